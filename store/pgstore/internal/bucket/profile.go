package bucket

import (
	"cmp"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"

	"github.com/minio/minio-go/v7/pkg/credentials"
	"gopkg.in/ini.v1"
)

// A profile is what the files of ~/.aws say about one of the accounts in them.
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
		content, err := ini.LooseLoad(path)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", path, err)
		}
		for _, section := range content.Sections() {
			if section.Name() != p.name && section.Name() != file.prefix+p.name {
				continue
			}
			for _, key := range section.Keys() {
				p.values[key.Name()] = key.Value()
			}
		}
	}
	if p.chosen && len(p.values) == 0 {
		return nil, fmt.Errorf("there is no profile %s in ~/.aws/config and ~/.aws/credentials", p.name)
	}
	return p, nil
}

// errNoKeys is the error if there are no credentials anywhere.
var errNoKeys = errors.New("no credentials: " + whereSecrets)

// A chain finds credentials where Amazon's tools do, in their order: in the environment, for a
// service that has a token, in the files of ~/.aws, and where the machine or the container has
// them. A profile that the address names comes first.
type chain struct {
	profile  *profile
	explicit bool // the address names the profile
	found    credentials.Provider
}

// Retrieve is what the library wants of a provider; it calls RetrieveWithCredContext in its place.
func (c *chain) Retrieve() (credentials.Value, error) {
	return c.RetrieveWithCredContext(&credentials.CredContext{Client: http.DefaultClient})
}

// IsExpired reports whether the credentials must be looked for again.
func (c *chain) IsExpired() bool { return c.found == nil || c.found.IsExpired() }

// RetrieveWithCredContext looks for credentials.
func (c *chain) RetrieveWithCredContext(cc *credentials.CredContext) (v credentials.Value, err error) {
	role := &credentials.IAM{Client: cc.Client, Region: c.profile.values["region"]}
	file := &credentials.FileAWSCredentials{Profile: c.profile.name}
	var providers []credentials.Provider
	if !c.explicit {
		providers = append(providers, &credentials.EnvAWS{})
		if os.Getenv("AWS_WEB_IDENTITY_TOKEN_FILE") != "" {
			providers = append(providers, role)
		}
	}
	if len(c.profile.values) > 0 {
		providers = append(providers, file)
	}
	inContainer := os.Getenv("AWS_CONTAINER_CREDENTIALS_RELATIVE_URI")+os.Getenv("AWS_CONTAINER_CREDENTIALS_FULL_URI") != ""
	if !c.explicit && (inContainer || os.Getenv("AWS_EC2_METADATA_DISABLED") != "true") {
		providers = append(providers, role)
	}
	for _, p := range providers {
		v, err = p.RetrieveWithCredContext(cc)
		if err == nil && v.AccessKeyID != "" && v.SecretAccessKey != "" {
			c.found = p
			return v, nil
		}
		if p == file && err == nil && c.profile.values["role_arn"] != "" {
			return v, fmt.Errorf("%w; profile %s takes a role: let its credential_process be "+
				"\"aws configure export-credentials\"", errNoKeys, c.profile.name)
		}
	}
	if err != nil {
		return v, fmt.Errorf("%w (%w)", errNoKeys, err)
	}
	return v, errNoKeys
}
