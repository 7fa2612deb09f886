package bucket

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// outside lets a test have no credentials but those that it makes.
func outside(t *testing.T, variables map[string]string) {
	t.Helper()
	for _, name := range []string{
		"AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN", "AWS_PROFILE", "AWS_REGION", "AWS_DEFAULT_REGION", "AWS_CA_BUNDLE",
		"AWS_ENDPOINT_URL", "AWS_ENDPOINT_URL_S3", "AWS_CONFIG_FILE", "AWS_SHARED_CREDENTIALS_FILE", "AWS_WEB_IDENTITY_TOKEN_FILE",
		"AWS_CONTAINER_CREDENTIALS_RELATIVE_URI", "AWS_CONTAINER_CREDENTIALS_FULL_URI", "AWS_CONTAINER_AUTHORIZATION_TOKEN",
		"AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE", "AWS_ENDPOINT_URL_STS", "AWS_EC2_METADATA_SERVICE_ENDPOINT", "AWS_ROLE_ARN",
	} {
		t.Setenv(name, "")
	}
	t.Setenv("AWS_EC2_METADATA_DISABLED", "true")
	t.Setenv("HOME", t.TempDir())
	for name, value := range variables {
		t.Setenv(name, value)
	}
}

// aws writes the files of ~/.aws.
func aws(t *testing.T, config, secrets string) {
	t.Helper()
	dir := filepath.Join(os.Getenv("HOME"), ".aws")
	if err := errors.Join(os.Mkdir(dir, 0o700), os.WriteFile(filepath.Join(dir, "config"), []byte(config), 0o600),
		os.WriteFile(filepath.Join(dir, "credentials"), []byte(secrets), 0o600)); err != nil {
		t.Fatal(err)
	}
}

// TestCredentials compares the access key, the token and the region of a request with what the
// environment, the files and the address say.
func TestCredentials(t *testing.T) {
	container := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		_ = json.NewEncoder(w).Encode(map[string]string{
			"AccessKeyId": "role", "SecretAccessKey": "s", "Token": "t", "Expiration": time.Now().Add(time.Hour).Format(time.RFC3339),
		})
	}))
	defer container.Close()
	cloud := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		const roles = "/latest/meta-data/iam/security-credentials/"
		switch known := r.Header.Get("X-Aws-Ec2-Metadata-Token") == "session"; {
		case r.Method == "POST" && r.FormValue("WebIdentityToken") == "a token" && r.FormValue("RoleArn") == "arn":
			_, _ = io.WriteString(w, `<AssumeRoleWithWebIdentityResponse xmlns="https://sts.amazonaws.com/doc/2011-06-15/"><AssumeRoleWithWebIdentityResult><Credentials>`+
				`<AccessKeyId>service</AccessKeyId><SecretAccessKey>s</SecretAccessKey><SessionToken>t</SessionToken><Expiration>2100-01-01T00:00:00Z</Expiration>`+
				`</Credentials></AssumeRoleWithWebIdentityResult></AssumeRoleWithWebIdentityResponse>`)
		case r.Method == "PUT" && r.URL.Path == "/latest/api/token":
			_, _ = io.WriteString(w, "session")
		case known && r.URL.Path == roles:
			_, _ = io.WriteString(w, "its-role")
		case known && r.URL.Path == roles+"its-role":
			_, _ = io.WriteString(w, `{"Code": "Success", "AccessKeyId": "machine", "SecretAccessKey": "s", "Token": "t", "Expiration": "2100-01-01T00:00:00Z"}`)
		default:
			w.WriteHeader(http.StatusUnauthorized)
		}
	}))
	defer cloud.Close()
	process := func(says string) string { return "[default]\ncredential_process = echo '" + says + "'\n" }
	env := map[string]string{"AWS_ACCESS_KEY_ID": "env", "AWS_SECRET_ACCESS_KEY": "s", "AWS_REGION": "here"}
	const config, secrets = "[default]\nregion = far\n[profile work]\nregion = off\n[profile taken]\nrole_arn = x\nsource_profile = work\n",
		"[default]\naws_access_key_id = plain\naws_secret_access_key = s\n[work]\naws_access_key_id = work\naws_secret_access_key = s\naws_session_token = t\n"
	for name, tt := range map[string]struct {
		env             map[string]string
		config, secrets string
		address         string
		want            string // access key, region, token; or a part of the error
	}{
		"environment":         {env, "", "", "", "env here "},
		"before files":        {env, config, secrets, "", "env here "},
		"default":             {nil, config, secrets, "", "plain far "},
		"profile of address":  {env, config, secrets, "&profile=work", "work here t"},
		"profile of variable": {map[string]string{"AWS_PROFILE": "work"}, config, secrets, "", "work off t"},
		"region of address":   {nil, config, secrets, "&region=mine", "plain mine "},
		"container":           {map[string]string{"AWS_CONTAINER_CREDENTIALS_FULL_URI": container.URL}, "", "", "", "role us-east-1 t"},
		"none":                {nil, "", "", "", whereSecrets},
		"no such profile":     {env, config, secrets, "&profile=nobody", "there is no profile nobody"},
		"container elsewhere": {map[string]string{"AWS_CONTAINER_CREDENTIALS_FULL_URI": "http://192.0.2.1/keys"}, "", "", "", "192.0.2.1 is neither this machine"},
		"role":                {nil, config, secrets, "&profile=taken", "export-credentials --profile taken"},
		"login":               {nil, "[profile sso]\nsso_session = x\n", "", "&profile=sso", "profile sso has sso_session"},
		"half of the keys":    {nil, "", "[default]\naws_access_key_id = x\n", "", "without the other"},
		"process":             {nil, process(`{"Version": 1, "AccessKeyId": "made", "SecretAccessKey": "s", "SessionToken": "t"}`), "", "", "made us-east-1 t"},
		"failing process":     {nil, "[default]\ncredential_process = echo log in first >&2; exit 3\n", "", "", "log in first"},
		"service": {
			map[string]string{"AWS_WEB_IDENTITY_TOKEN_FILE": written(t, "a token"), "AWS_ROLE_ARN": "arn", "AWS_ENDPOINT_URL_STS": cloud.URL},
			"", "", "", "service us-east-1 t",
		},
		"machine": {
			map[string]string{"AWS_EC2_METADATA_DISABLED": "", "AWS_EC2_METADATA_SERVICE_ENDPOINT": cloud.URL}, "", "", "", "machine us-east-1 t",
		},
		"forms of files": {
			nil, "\ufeff; a comment\r\n[ profile  work ]\r\nREGION=off # far away\r\n", "[work]\ns3 =\n  aws_access_key_id = nested\naws_access_key_id=a\naws_secret_access_key = s = #\n",
			"&profile=work", "a off ",
		},
	} {
		t.Run(name, func(t *testing.T) {
			outside(t, tt.env)
			aws(t, tt.config, tt.secrets)
			var got string
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				scope := strings.Split(strings.SplitAfter(r.Header.Get("Authorization"), "Credential=")[1], "/")
				got = scope[0] + " " + scope[2] + " " + r.Header.Get("X-Amz-Security-Token")
				_, _ = io.WriteString(w, "marker")
			}))
			defer server.Close()
			err := marker(t, "s3://bucket?endpoint="+server.URL+tt.address)
			if err != nil {
				got = err.Error()
			}
			if got != tt.want && (err == nil || !strings.Contains(got, tt.want)) {
				t.Errorf("%s, want %s", got, tt.want)
			}
			if tt.want == whereSecrets && !errors.Is(err, fs.ErrPermission) {
				t.Errorf("%v does not match fs.ErrPermission", err)
			}
		})
	}
}

// written returns the path of a file with a text.
func written(t *testing.T, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// TestKeysAreRenewed has a machine whose keys expire. A renewal that fails leaves the old ones in
// use to their end.
func TestKeysAreRenewed(t *testing.T) {
	outside(t, nil)
	asked, down := 0, false
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		if asked++; down {
			w.WriteHeader(http.StatusInternalServerError)
			return
		}
		_ = json.NewEncoder(w).Encode(keys{ID: fmt.Sprint("key", asked), Secret: "s", Expiration: time.Now().Add(time.Hour)})
	}))
	defer server.Close()
	t.Setenv("AWS_CONTAINER_CREDENTIALS_FULL_URI", server.URL)
	p, err := readProfile("")
	if err != nil {
		t.Fatal(err)
	}
	ring := newKeyring(p, false, "", server.Client())
	check := func(step, want string) {
		t.Helper()
		if k, err := ring.get(t.Context()); k.ID != want || (err == nil) != (want != "") {
			t.Errorf("%s: %q %v, want %q", step, k.ID, err, want)
		}
	}
	check("first", "key1")
	check("again", "key1")
	ring.renew = time.Now() // four fifths are over
	check("renewed", "key2")
	ring.renew, down = time.Now(), true
	check("renewal fails", "key2")
	ring.found.Expiration = time.Now()
	check("expired", "")
	down = false
	check("after that", "key5")
}

// marker reads the marker of a bucket by a new client.
func marker(t *testing.T, address string) error {
	t.Helper()
	a, err := Parse(address)
	if err != nil {
		t.Fatal(err)
	}
	c, err := New(a, 10*time.Second)
	if err == nil {
		_, err = c.Marker(context.Background())
	}
	return err
}

// TestSkew has a server whose clock is an hour ahead, and which refuses signatures that are older.
func TestSkew(t *testing.T) {
	outside(t, map[string]string{"AWS_ACCESS_KEY_ID": "a", "AWS_SECRET_ACCESS_KEY": "s"})
	requests := 0
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		requests++
		now := time.Now().Add(time.Hour)
		w.Header().Set("Date", now.UTC().Format(http.TimeFormat))
		signed, err := time.Parse(signedTime, r.Header.Get("X-Amz-Date"))
		if err != nil || now.Sub(signed).Abs() > 15*time.Minute {
			w.WriteHeader(http.StatusForbidden)
			_, _ = io.WriteString(w, "<Error><Code>RequestTimeTooSkewed</Code><Message>too far</Message></Error>")
			return
		}
		_, _ = io.WriteString(w, "marker")
	}))
	defer server.Close()
	if err := marker(t, "s3://bucket?endpoint="+server.URL); err != nil || requests != 2 {
		t.Errorf("%v after %d requests, want 2", err, requests)
	}
}

// TestBase looks where requests go.
func TestBase(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ address, region, want string }{
		{"s3://photos", "eu-west-1", "https://photos.s3.eu-west-1.amazonaws.com"},
		{"s3://photos", "cn-north-1", "https://photos.s3.cn-north-1.amazonaws.com.cn"},
		{"s3://photos.example", "eu-west-1", "https://s3.eu-west-1.amazonaws.com/photos.example"},
		{"s3://photos?endpoint=https://s3.example:9000", "x", "https://s3.example:9000/photos"},
		{"s3://photos?endpoint=https://s3.example/base/%26path-style=false", "x", "https://photos.s3.example/base"},
		{"s3://photos?endpoint=http://127.0.0.1:9000%26path-style=false", "x", "http://127.0.0.1:9000/photos"},
	} {
		a, err := Parse(strings.ReplaceAll(tt.address, "%26", "&"))
		if err != nil {
			t.Fatal(err)
		}
		if base, err := baseOf(a, a.Endpoint, tt.region); err != nil || base.String() != tt.want {
			t.Errorf("%s: %v %v, want %s", tt.address, base, err, tt.want)
		}
	}
}
