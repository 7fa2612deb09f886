package bucket

import (
	"net/url"
	"strings"
	"testing"
)

// TestParseShowsNoSecret puts a password where an address has none: the error must not show it.
func TestParseShowsNoSecret(t *testing.T) {
	t.Parallel()
	const secret = "hunter2"
	for _, address := range []string{
		"s3://user:" + secret + "@bucket/prefix",
		"s3://user:" + secret + "@",
		"s3://bucket?endpoint=" + url.QueryEscape("https://user:"+secret+"@s3.example"),
		"s3://bucket?endpoint=" + url.QueryEscape("https://user:"+secret+"@s3.example:port"),
		"s3://bucket?endpoint=" + url.QueryEscape("https://user:"+secret+"%@s3.example"),
		"s3://bucket?endpoint=" + url.QueryEscape("user:"+secret+"@s3.example"),
		"s3://bucket?endpoint=https://user:" + secret + "@s3.example",
		"s3://bucket?secret=" + secret,
	} {
		if a, err := Parse(address); err == nil {
			t.Errorf("%s: %+v", address, a)
		} else if strings.Contains(err.Error(), secret) {
			t.Errorf("%s: %v", address, err)
		}
	}
}
