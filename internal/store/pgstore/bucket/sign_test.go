package bucket

import (
	"net/http"
	"testing"
	"time"
)

// TestSign compares signatures with those of the examples in Amazon's description of Signature
// Version 4 for S3.
func TestSign(t *testing.T) {
	t.Parallel()
	const content = "44ce7dd67c959e0d3524ffac1771dfbba87d2b6b4b4e99e42034a8b803f8b072"
	for name, tt := range map[string]struct {
		method, url, checksum string
		headers               map[string]string
		want                  string
	}{
		"object": {
			http.MethodGet, "/test.txt", empty,
			map[string]string{"Range": "bytes=0-9"},
			"SignedHeaders=host;range;x-amz-content-sha256;x-amz-date,Signature=f0e8bdb87c964420e857bd35b5d6ed310bd44f0170aba48dd91039c6036bdb41",
		},
		"written": {
			http.MethodPut, "/test%24file.text", content,
			map[string]string{"Date": "Fri, 24 May 2013 00:00:00 GMT", "X-Amz-Storage-Class": "REDUCED_REDUNDANCY"},
			"SignedHeaders=date;host;x-amz-content-sha256;x-amz-date;x-amz-storage-class,Signature=98ad721746da40c64f1a55b78f14c238d841ea1380cd77a1b5971af0ece108bd",
		},
		"list": {
			http.MethodGet, "/?max-keys=2&prefix=J", empty, nil,
			"SignedHeaders=host;x-amz-content-sha256;x-amz-date,Signature=34b48302e7b5fa45bde8084f4b7868a86f0a534bc59db6670ed5711ef69dc6f7",
		},
	} {
		r, err := http.NewRequest(tt.method, "https://examplebucket.s3.amazonaws.com"+tt.url, nil)
		if err != nil {
			t.Fatal(err)
		}
		for name, value := range tt.headers {
			r.Header.Set(name, value)
		}
		r.Header.Set("X-Amz-Content-Sha256", tt.checksum)
		k := &keys{ID: "AKIAIOSFODNN7EXAMPLE", Secret: "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY"}
		sign(r, k, "us-east-1", time.Date(2013, 5, 24, 0, 0, 0, 0, time.UTC))
		want := "AWS4-HMAC-SHA256 Credential=AKIAIOSFODNN7EXAMPLE/20130524/us-east-1/s3/aws4_request," + tt.want
		if got := r.Header.Get("Authorization"); got != want {
			t.Errorf("%s:\n%s, want\n%s", name, got, want)
		}
	}
	if got, want := escapePath("/a b/ü+$~*.txt"), "/a%20b/%C3%BC%2B%24~%2A.txt"; got != want {
		t.Errorf("path %s, want %s", got, want)
	}
}
