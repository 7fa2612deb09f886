package bucket

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"
)

// The forms of time in a signature.
const (
	signedTime = "20060102T150405Z"
	signedDay  = "20060102"
)

// sign signs a request by Signature Version 4 of AWS. The header X-Amz-Content-Sha256 has the
// checksum of the content, which the signature covers together with all other headers that are set.
func sign(r *http.Request, k *keys, region string, now time.Time) {
	now = now.UTC()
	r.Header.Set("X-Amz-Date", now.Format(signedTime))
	if k.token() != "" {
		r.Header.Set("X-Amz-Security-Token", k.token())
	}
	headers := map[string]string{"host": r.URL.Host}
	for name, values := range r.Header {
		headers[strings.ToLower(name)] = strings.Join(values, ",")
	}
	names := make([]string, 0, len(headers))
	for name := range headers {
		names = append(names, name)
	}
	slices.Sort(names)
	var lines strings.Builder
	for _, name := range names {
		lines.WriteString(name + ":" + strings.Join(strings.Fields(headers[name]), " ") + "\n")
	}
	signed := strings.Join(names, ";")
	canonical := strings.Join([]string{
		r.Method, r.URL.EscapedPath(), r.URL.RawQuery, lines.String(), signed, r.Header.Get("X-Amz-Content-Sha256"),
	}, "\n")
	scope := strings.Join([]string{now.Format(signedDay), region, "s3", "aws4_request"}, "/")
	text := strings.Join([]string{"AWS4-HMAC-SHA256", now.Format(signedTime), scope, sum([]byte(canonical))}, "\n")
	key := []byte("AWS4" + k.Secret)
	for part := range strings.SplitSeq(scope, "/") {
		key = mac(key, part)
	}
	r.Header.Set("Authorization", "AWS4-HMAC-SHA256 Credential="+k.ID+"/"+scope+
		",SignedHeaders="+signed+",Signature="+hex.EncodeToString(mac(key, text)))
}

func mac(key []byte, text string) []byte {
	h := hmac.New(sha256.New, key)
	_, _ = h.Write([]byte(text)) // a hash takes everything
	return h.Sum(nil)
}

func sum(p []byte) string {
	h := sha256.Sum256(p)
	return hex.EncodeToString(h[:])
}

// escapePath returns a path as a signature has it: all bytes are escaped except letters, digits,
// slashes and a few others.
func escapePath(path string) string {
	names := strings.Split(path, "/")
	for i := range names {
		names[i] = escape(names[i])
	}
	return strings.Join(names, "/")
}

// escapeQuery does so for parameters, in the order of their names.
func escapeQuery(query url.Values) string {
	return strings.ReplaceAll(query.Encode(), "+", "%20")
}

func escape(text string) string {
	return strings.ReplaceAll(url.QueryEscape(text), "+", "%20")
}
