package bucket

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
)

// A profile is the settings of one account in the files of ~/.aws.
type profile struct {
	name   string
	chosen bool // by the address or by the environment
	values map[string]string
}

// readProfile reads a profile; "" is the one that the environment names. The file of credentials
// says more than that of the configuration, as for Amazon's tools.
func readProfile(name string) (*profile, error) {
	name = cmp.Or(name, os.Getenv("AWS_PROFILE"))
	p := &profile{name: cmp.Or(name, "default"), chosen: name != "", values: map[string]string{}}
	home, _ := os.UserHomeDir() // where there is none, the environment may name the files
	for _, file := range []struct{ variable, name, prefix string }{
		{"AWS_CONFIG_FILE", "config", "profile "}, {"AWS_SHARED_CREDENTIALS_FILE", "credentials", ""},
	} {
		path := os.Getenv(file.variable)
		if path == "" && home != "" {
			path = filepath.Join(home, ".aws", file.name)
		}
		text, err := os.ReadFile(path)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, err
		}
		p.read(string(text), file.prefix)
	}
	if p.chosen && len(p.values) == 0 {
		return nil, fmt.Errorf("there is no profile %s in ~/.aws/config and ~/.aws/credentials", p.name)
	}
	return p, nil
}

// read adds the settings of a file for the profile: sections of lines "key = value". Indented lines
// belong to the key above them, which is none of those that count here.
func (p *profile) read(text, prefix string) {
	in := false
	for line := range strings.Lines(strings.TrimPrefix(text, "\ufeff")) {
		indented := strings.TrimLeft(line, " \t") != line
		line, _, _ = strings.Cut(strings.TrimSpace(line), " #")
		line, _, _ = strings.Cut(line, " ;")
		if line == "" || line[0] == '#' || line[0] == ';' {
			continue
		}
		if line[0] == '[' {
			section := strings.Join(strings.Fields(strings.Trim(line, "[]")), " ")
			in = section == p.name || section == prefix+p.name
			continue
		}
		if key, value, ok := strings.Cut(line, "="); ok && in && !indented {
			p.values[strings.ToLower(strings.TrimSpace(key))] = strings.TrimSpace(value)
		}
	}
}

// keys returns the keys of the profile, or none if it says nothing about keys.
func (p *profile) keys(ctx context.Context) (keys, error) {
	k := keys{ID: p.values["aws_access_key_id"], Secret: p.values["aws_secret_access_key"], SessionToken: p.values["aws_session_token"]}
	switch process := p.values["credential_process"]; {
	case k.complete():
		return k, nil
	case k.ID != "" || k.Secret != "":
		return keys{}, fmt.Errorf("profile %s has one of aws_access_key_id and aws_secret_access_key without the other", p.name)
	case process != "":
		k, err := runProcess(ctx, process)
		if err != nil {
			err = fmt.Errorf("credential_process of profile %s: %w", p.name, err)
		}
		return k, err
	}
	for _, key := range []string{"role_arn", "sso_session", "sso_start_url", "sso_role_name"} {
		if p.values[key] != "" {
			return keys{}, fmt.Errorf("%w; profile %s has %s: add credential_process = aws configure export-credentials --profile %s",
				errNoKeys, p.name, key, p.name)
		}
	}
	return keys{}, nil
}

// runProcess runs a program that writes keys as an object of JSON.
func runProcess(ctx context.Context, line string) (k keys, err error) {
	cmd := exec.CommandContext(ctx, "sh", "-c", line)
	if runtime.GOOS == "windows" {
		cmd = exec.CommandContext(ctx, "cmd.exe", "/C", line)
	}
	out, err := cmd.Output()
	if e, ok := errors.AsType[*exec.ExitError](err); ok {
		return k, fmt.Errorf("%w: %s", err, e.Stderr)
	}
	if err != nil {
		return k, err
	}
	err = json.Unmarshal(out, &k)
	return k, err
}
