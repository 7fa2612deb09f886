package bucket

import (
	"cmp"
	"context"
	"encoding/json"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"strings"
	"sync"
	"time"
)

// keys sign requests. The fields are called as programs and machines write them.
type keys struct {
	ID           string    `json:"AccessKeyId" xml:"AccessKeyId"`
	Secret       string    `json:"SecretAccessKey" xml:"SecretAccessKey"`
	SessionToken string    `json:"SessionToken" xml:"SessionToken"`
	Token        string    `json:"Token" xml:"-"` // the same, from a machine or a container
	Expiration   time.Time `json:"Expiration" xml:"Expiration"`
}

func (k *keys) complete() bool { return k.ID != "" && k.Secret != "" }

// token returns the token that goes with the keys, or "".
func (k *keys) token() string { return cmp.Or(k.SessionToken, k.Token) }

// errNoKeys is the error if there are no credentials anywhere.
var errNoKeys = errors.New("no credentials: " + whereSecrets)

// A keyring finds keys where Amazon's tools do, in their order: in the environment, for a service
// with a token, in the files of ~/.aws, and where the container or the machine has them. A
// profile that the address names comes first.
type keyring struct {
	profile  *profile
	explicit bool // the address names the profile
	region   string
	http     *http.Client
	direct   *http.Client // for the machine, past all proxies

	mu    sync.Mutex // guards what is below
	found keys
	renew time.Time // when to look again; zero if the keys do not expire
}

func newKeyring(p *profile, explicit bool, region string, client *http.Client) *keyring {
	return &keyring{profile: p, explicit: explicit, region: region, http: client, direct: &http.Client{Transport: &http.Transport{}}}
}

// get returns keys that are valid now. They are renewed when four fifths of their time are over; as
// long as that fails, the old ones are used to their end.
func (r *keyring) get(ctx context.Context) (keys, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	now := time.Now()
	if r.found.complete() && (r.renew.IsZero() || now.Before(r.renew)) {
		return r.found, nil
	}
	k, err := r.find(ctx)
	if err != nil {
		if r.found.complete() && now.Before(r.found.Expiration) {
			return r.found, nil
		}
		return keys{}, err
	}
	r.found, r.renew = k, time.Time{}
	if !k.Expiration.IsZero() {
		r.renew = now.Add(k.Expiration.Sub(now) / 5 * 4)
	}
	return k, nil
}

// find looks for keys in all places. The first error says why there are none.
func (r *keyring) find(ctx context.Context) (keys, error) {
	places := []func(context.Context) (keys, error){r.profile.keys}
	if !r.explicit {
		places = []func(context.Context) (keys, error){environment, r.service, r.profile.keys, r.container, r.machine}
	}
	var first error
	for _, look := range places {
		k, err := look(ctx)
		if err == nil && k.complete() {
			return k, nil
		}
		if errors.Is(err, errNoKeys) {
			return keys{}, err
		}
		first = cmp.Or(first, err)
	}
	if first != nil {
		return keys{}, fmt.Errorf("%w (%w)", errNoKeys, first)
	}
	return keys{}, errNoKeys
}

// environment returns the keys of the environment.
func environment(context.Context) (keys, error) {
	return keys{
		ID:     cmp.Or(os.Getenv("AWS_ACCESS_KEY_ID"), os.Getenv("AWS_ACCESS_KEY")),
		Secret: cmp.Or(os.Getenv("AWS_SECRET_ACCESS_KEY"), os.Getenv("AWS_SECRET_KEY")), SessionToken: os.Getenv("AWS_SESSION_TOKEN"),
	}, nil
}

// service returns the keys for a token in a file, as the services of a cluster have one.
func (r *keyring) service(ctx context.Context) (keys, error) {
	path := os.Getenv("AWS_WEB_IDENTITY_TOKEN_FILE")
	if path == "" {
		return keys{}, nil
	}
	token, err := os.ReadFile(path)
	if err != nil {
		return keys{}, err
	}
	form := url.Values{
		"Action": {"AssumeRoleWithWebIdentity"}, "Version": {"2011-06-15"}, "RoleArn": {os.Getenv("AWS_ROLE_ARN")},
		"RoleSessionName": {cmp.Or(os.Getenv("AWS_ROLE_SESSION_NAME"), "folio")}, "WebIdentityToken": {string(token)},
	}
	endpoint := "https://sts." + r.region + ".amazonaws.com"
	if strings.HasPrefix(r.region, "cn-") {
		endpoint += ".cn"
	}
	q, err := http.NewRequestWithContext(ctx, http.MethodPost, cmp.Or(os.Getenv("AWS_ENDPOINT_URL_STS"), endpoint), strings.NewReader(form.Encode()))
	if err != nil {
		return keys{}, err
	}
	q.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	text, err := ask(r.http, q)
	if err != nil {
		return keys{}, err
	}
	var answer struct {
		Keys keys `xml:"AssumeRoleWithWebIdentityResult>Credentials"`
	}
	err = xml.Unmarshal(text, &answer)
	return answer.Keys, err
}

// container returns the keys that the program next to a container has for it.
func (r *keyring) container(ctx context.Context) (keys, error) {
	address, relative := os.Getenv("AWS_CONTAINER_CREDENTIALS_FULL_URI"), os.Getenv("AWS_CONTAINER_CREDENTIALS_RELATIVE_URI")
	switch {
	case relative != "":
		address = "http://169.254.170.2" + relative
	case address == "":
		return keys{}, nil
	}
	token := os.Getenv("AWS_CONTAINER_AUTHORIZATION_TOKEN")
	if path := os.Getenv("AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE"); path != "" {
		text, err := os.ReadFile(path)
		if err != nil {
			return keys{}, err
		}
		token = strings.TrimSpace(string(text))
	}
	q, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		return keys{}, err
	}
	if q.URL.Scheme != "https" && !nearby(q.URL.Hostname()) {
		return keys{}, fmt.Errorf("AWS_CONTAINER_CREDENTIALS_FULL_URI: %s is neither this machine nor reached by HTTPS", q.URL.Host)
	}
	if token != "" {
		q.Header.Set("Authorization", token)
	}
	return askKeys(r.direct, q)
}

// nearby reports whether a host is this machine, or an address at which machines have keys.
func nearby(host string) bool {
	ip := net.ParseIP(host)
	return host == "localhost" || ip != nil && (ip.IsLoopback() || ip.IsLinkLocalUnicast() || ip.Equal(net.ParseIP("fd00:ec2::23")))
}

// machine returns the keys of the role of a machine in Amazon's cloud, by version 2 of its service.
func (r *keyring) machine(ctx context.Context) (keys, error) {
	if strings.EqualFold(os.Getenv("AWS_EC2_METADATA_DISABLED"), "true") {
		return keys{}, nil
	}
	ctx, cancel := context.WithTimeout(ctx, time.Second) // elsewhere nothing answers
	defer cancel()
	base := strings.TrimSuffix(cmp.Or(os.Getenv("AWS_EC2_METADATA_SERVICE_ENDPOINT"), "http://169.254.169.254"), "/") + "/latest/"
	q, err := http.NewRequestWithContext(ctx, http.MethodPut, base+"api/token", nil)
	if err != nil {
		return keys{}, err
	}
	q.Header.Set("X-Aws-Ec2-Metadata-Token-Ttl-Seconds", "60")
	token, err := ask(r.direct, q)
	if err != nil {
		return keys{}, err
	}
	get := func(name string) *http.Request {
		q, _ := http.NewRequestWithContext(ctx, http.MethodGet, base+"meta-data/iam/security-credentials/"+name, nil) // base is a URL, as seen
		q.Header.Set("X-Aws-Ec2-Metadata-Token", string(token))
		return q
	}
	roles, err := ask(r.direct, get(""))
	if err != nil {
		return keys{}, err
	}
	role, _, _ := strings.Cut(strings.TrimSpace(string(roles)), "\n") // a machine has one
	return askKeys(r.direct, get(url.PathEscape(role)))
}

// askKeys makes a request whose answer is keys as JSON.
func askKeys(client *http.Client, q *http.Request) (k keys, err error) {
	text, err := ask(client, q)
	if err != nil {
		return k, err
	}
	err = json.Unmarshal(text, &k)
	return k, err
}

// ask makes a request for keys, and returns the content of the answer.
func ask(client *http.Client, q *http.Request) ([]byte, error) {
	answer, err := client.Do(q)
	if err != nil {
		return nil, err
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(io.LimitReader(answer.Body, 1<<20))
	if err == nil && answer.StatusCode != http.StatusOK {
		err = fmt.Errorf("%s answers %s", q.URL.Host, answer.Status)
	}
	return text, err
}
