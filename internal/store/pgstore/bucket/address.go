package bucket

import (
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"strconv"
	"strings"
	"unicode"
)

// An Address is where the objects of a volume are.
type Address struct {
	Bucket    string
	Prefix    string // of the names of all objects: "", or it ends with a slash
	Endpoint  string // the URL of a server; "" for Amazon's, or what the environment says
	Region    string // "" for what the environment says
	Profile   string // of the shared configuration; "" for what the environment says
	PathStyle bool   // the bucket is a part of the path, and not of the name of the host
}

// errAddress shows the form of an address.
var errAddress = errors.New("not the address of a bucket: write s3://BUCKET/PREFIX, perhaps with ?endpoint=URL&region=NAME")

// errSecret is the error of an endpoint with a user, and does not show the user, as there may be a
// password.
var errSecret = errors.New("the endpoint of a bucket has no user and no password: " + whereSecrets)

// Parse reads the address of a bucket, such as s3://bucket/prefix?endpoint=http://localhost:9000.
// With an endpoint that is not Amazon's, the bucket is a part of the path unless the parameter
// path-style is false. An address has no secrets: they are where Amazon's tools look for them.
func Parse(text string) (*Address, error) {
	u, err := url.Parse(text)
	if err != nil || u.Scheme != "s3" || u.Host == "" || u.Port() != "" || u.User != nil || u.Fragment != "" {
		return nil, errAddress
	}
	a := &Address{Bucket: u.Host, Prefix: strings.Trim(u.Path, "/")}
	if a.Prefix != "" {
		if a.Prefix == "." || !fs.ValidPath(a.Prefix) || strings.ContainsFunc(a.Prefix, unicode.IsControl) {
			return nil, fmt.Errorf("%q cannot be the prefix of a volume in a bucket: write names with one slash between them, and no . or .. among them", a.Prefix)
		}
		a.Prefix += "/"
	}
	values, err := url.ParseQuery(u.RawQuery)
	if err != nil {
		return nil, errAddress
	}
	for name := range values {
		if err := a.set(name, values.Get(name)); err != nil {
			return nil, err
		}
	}
	if !values.Has("path-style") {
		a.PathStyle = a.Endpoint != "" && !strings.Contains(a.Endpoint, ".amazonaws.com")
	}
	return a, nil
}

func (a *Address) set(name, value string) (err error) {
	switch name {
	case "endpoint":
		e, err := url.Parse(value)
		if strings.Contains(value, "@") {
			return errSecret
		}
		if err != nil || e.Scheme != "http" && e.Scheme != "https" || e.Host == "" {
			return fmt.Errorf("%q is no endpoint of a bucket: write the URL of the server, such as https://s3.example", value)
		}
		a.Endpoint = value
	case "region":
		a.Region = value
	case "profile":
		a.Profile = value
	case "path-style":
		if a.PathStyle, err = strconv.ParseBool(value); err != nil {
			return fmt.Errorf("path-style=%s: write true or false", value)
		}
	default:
		return fmt.Errorf("%q is no parameter of a bucket's address: there are endpoint, region, profile and path-style", name)
	}
	return nil
}

// String returns the bucket and the prefix, as errors show them.
func (a *Address) String() string {
	return strings.TrimSuffix("s3://"+a.Bucket+"/"+a.Prefix, "/")
}

// whereSecrets says where Amazon's tools and this package look for credentials.
const whereSecrets = "set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or write ~/.aws/credentials"
