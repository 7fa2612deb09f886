package bucket

import (
	"context"
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"encoding/hex"
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

const (
	// maxIdle is how many connections stay open between requests.
	maxIdle = 32
	// maxError is how much of an answer is read that is an error, or a list.
	maxError, maxList = 64 << 10, 16 << 20
	// askFirst is the size of content that is sent only after the server has agreed to the request.
	askFirst = 2 << 20
)

// empty is the checksum of no content.
const empty = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"

// newTransport returns what carries requests. It trusts the certificates of AWS_CA_BUNDLE, if that
// is set.
func newTransport() (*http.Transport, error) {
	t := http.DefaultTransport.(*http.Transport).Clone()
	t.MaxIdleConns, t.MaxIdleConnsPerHost = maxIdle, maxIdle
	t.DisableCompression = true // a range is one of the bytes that were written
	path := os.Getenv("AWS_CA_BUNDLE")
	if path == "" {
		return t, nil
	}
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("AWS_CA_BUNDLE: %w", err)
	}
	pool := x509.NewCertPool()
	if !pool.AppendCertsFromPEM(text) {
		return nil, fmt.Errorf("AWS_CA_BUNDLE: %s has no certificate", path)
	}
	t.TLSClientConfig = &tls.Config{RootCAs: pool, MinVersion: tls.VersionTLS12}
	return t, nil
}

// baseOf returns the URL of a bucket.
func baseOf(a *Address, endpoint, region string) (*url.URL, error) {
	if endpoint == "" {
		endpoint = "https://s3." + region + ".amazonaws.com"
		if strings.HasPrefix(region, "cn-") {
			endpoint += ".cn"
		}
	}
	base, err := url.Parse(endpoint)
	if err != nil || base.Host == "" {
		return nil, fmt.Errorf("%q is no endpoint of a bucket: write the URL of the server, such as https://s3.example", endpoint)
	}
	base.RawQuery, base.Fragment = "", ""
	base.Path = strings.TrimSuffix(base.Path, "/")
	// A name with a dot, and an address of IP, cannot be a host of a bucket.
	if a.PathStyle || strings.Contains(a.Bucket, ".") || net.ParseIP(base.Hostname()) != nil {
		base.Path += "/" + a.Bucket
	} else {
		base.Host = a.Bucket + "." + base.Host
	}
	return base, nil
}

// A request is one to the bucket.
type request struct {
	method  string
	key     string // "" is the bucket itself
	query   url.Values
	headers map[string]string
	content io.ReadSeeker // or nil
	size    int64
}

// do makes a request. An answer that is not a success is an *answerError. The caller closes the
// body.
func (c *Client) do(ctx context.Context, q *request) (*http.Response, error) {
	k, err := c.keys.get(ctx)
	if err != nil {
		return nil, err
	}
	u := *c.base
	u.Path += "/" + q.key
	u.RawPath = escapePath(u.Path)
	u.RawQuery = escapeQuery(q.query)
	r, err := http.NewRequestWithContext(ctx, q.method, u.String(), nil)
	if err != nil {
		return nil, err
	}
	for name, value := range q.headers {
		r.Header.Set(name, value)
	}
	checksum := empty
	if q.content != nil {
		if checksum, err = checksumOf(q.content); err != nil {
			return nil, err
		}
		body := &payload{r: q.content}
		defer body.Close() // the next attempt may read the content
		r.Body, r.ContentLength = body, q.size
	}
	r.Header.Set("X-Amz-Content-Sha256", checksum)
	sign(r, &k, c.region, time.Now().Add(time.Duration(c.skew.Load())))
	if q.size >= askFirst {
		r.Header.Set("Expect", "100-continue")
	}
	out, err := c.http.Do(r)
	if err != nil {
		return nil, err
	}
	if out.StatusCode >= 300 {
		defer out.Body.Close()
		return nil, c.refusal(out)
	}
	return out, nil
}

// checksumOf returns the SHA-256 of content, and goes back to its beginning.
func checksumOf(content io.ReadSeeker) (string, error) {
	if _, err := content.Seek(0, io.SeekStart); err != nil {
		return "", err
	}
	h := sha256.New()
	if _, err := io.Copy(h, content); err != nil {
		return "", err
	}
	_, err := content.Seek(0, io.SeekStart)
	return hex.EncodeToString(h.Sum(nil)), err
}

// A payload is the content of a request. After Close, which waits for a Read, nothing reads from r.
type payload struct {
	mu sync.Mutex
	r  io.Reader // guarded by mu; nil after Close
}

var errClosed = errors.New("the request has ended")

func (p *payload) Read(b []byte) (int, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.r == nil {
		return 0, errClosed
	}
	return p.r.Read(b)
}

func (p *payload) Close() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.r = nil
	return nil
}

// An answerError is an answer that is not a success.
type answerError struct {
	status        int
	code, message string // of the server; "" if it gives none
}

func (e *answerError) Error() string {
	if e.message != "" {
		return e.code + ": " + e.message
	}
	return fmt.Sprintf("it answers %d %s", e.status, http.StatusText(e.status))
}

// refusal returns the error of an answer. It learns the clock of a server that refuses the time of
// the signature.
func (c *Client) refusal(out *http.Response) error {
	var said struct {
		XMLName       xml.Name `xml:"Error"`
		Code, Message string
	}
	text, _ := io.ReadAll(io.LimitReader(out.Body, maxError))
	if xml.Unmarshal(text, &said) != nil {
		said.Code, said.Message = "", ""
	}
	if said.Code == skewed {
		if now, err := http.ParseTime(out.Header.Get("Date")); err == nil {
			c.skew.Store(int64(time.Until(now)))
		}
	}
	return &answerError{out.StatusCode, said.Code, said.Message}
}

// skewed is the code of an error: the time of the signature is too far from that of the server.
const skewed = "RequestTimeTooSkewed"
