// Package bucket keeps immutable objects in a bucket of S3. It says how requests are repeated and
// what their errors mean; what the objects are, package pgstore says.
//
// Credentials and region are those that Amazon's tools find: in the environment, in the files of
// ~/.aws, and where the machine or the container has them.
package bucket

import (
	"bytes"
	"cmp"
	"context"
	"crypto/rand"
	"encoding/hex"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"sync/atomic"
	"time"
)

// A Name is the name of an object, which is random: no two contents ever have the same.
type Name [16]byte

func (n Name) String() string { return hex.EncodeToString(n[:]) }

// key returns the name of the object in the bucket. The first two digits are a directory, so that
// servers that keep objects as files do not get all of them in one.
func (c *Client) key(n Name) string {
	text := n.String()
	return c.address.Prefix + "objects/" + text[:2] + "/" + text
}

// nameOf is the other way round.
func (c *Client) nameOf(key string) (n Name, ok bool) {
	if len(key) < 2*len(n) {
		return n, false
	}
	if _, err := hex.Decode(n[:], []byte(key[len(key)-2*len(n):])); err != nil {
		return n, false
	}
	return n, c.key(n) == key
}

// A Client keeps objects in one bucket. It is safe for concurrent use.
type Client struct {
	http    *http.Client
	keys    *keyring
	base    *url.URL // of the bucket
	region  string
	address *Address
	timeout time.Duration
	skew    atomic.Int64 // how far the clock of the server is ahead of ours, a time.Duration
}

// New returns a client. Each request, with its repetitions, takes no longer than timeout.
func New(a *Address, timeout time.Duration) (*Client, error) {
	p, err := readProfile(a.Profile)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", a, err)
	}
	transport, err := newTransport()
	if err != nil {
		return nil, fmt.Errorf("%s: %w", a, err)
	}
	region := cmp.Or(a.Region, os.Getenv("AWS_REGION"), os.Getenv("AWS_DEFAULT_REGION"), p.values["region"], "us-east-1")
	endpoint := cmp.Or(a.Endpoint, os.Getenv("AWS_ENDPOINT_URL_S3"), os.Getenv("AWS_ENDPOINT_URL"), p.values["endpoint_url"])
	base, err := baseOf(a, endpoint, region)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", a, err)
	}
	stay := func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse } // a signature is for one URL
	client := &http.Client{Transport: transport, CheckRedirect: stay}
	return &Client{
		http: client, keys: newKeyring(p, a.Profile != "", region, client),
		base: base, region: region, address: a, timeout: timeout,
	}, nil
}

// put makes a request that writes an object. A server of S3 confirms it with an ETag; what answers
// without one, such as a proxy with a page for a login, has kept nothing.
func (c *Client) put(ctx context.Context, q *request) error {
	q.method = http.MethodPut
	out, err := c.do(ctx, q)
	if err != nil {
		return err
	}
	defer out.Body.Close()
	if out.Header.Get("ETag") == "" {
		return errNotS3
	}
	return nil
}

// Put writes an object. When it returns nil, the server has confirmed it, and has compared it with
// a checksum of the request.
func (c *Client) Put(ctx context.Context, n Name, body io.ReadSeeker, size int64) error {
	return c.repeat(ctx, func(ctx context.Context) error {
		return c.put(ctx, &request{key: c.key(n), content: body, size: size})
	})
}

// Get fills p with the bytes of an object from off on. All of them must be there. It calls filled,
// if that is not nil, whenever some more of p is filled, and with 0 whenever it begins again: then
// all of p is written once more.
func (c *Client) Get(ctx context.Context, n Name, p []byte, off int64, filled func(n int)) error {
	part := fmt.Sprintf("bytes=%d-%d", off, off+int64(len(p))-1)
	if filled == nil {
		filled = func(int) {}
	}
	return c.repeat(ctx, func(ctx context.Context) error {
		out, err := c.do(ctx, &request{method: http.MethodGet, key: c.key(n), headers: map[string]string{"Range": part}})
		if err != nil {
			return err
		}
		defer out.Body.Close()
		if got := out.ContentLength; got != int64(len(p)) {
			return fmt.Errorf("%w: %d bytes in place of %d", errShort, got, len(p))
		}
		filled(0)
		for done := 0; done < len(p); {
			n, err := out.Body.Read(p[done:])
			if done += n; err != nil && done < len(p) {
				return fmt.Errorf("%w: %w", errShort, err)
			}
			filled(done)
		}
		return nil
	})
}

// Delete removes an object. It is no error if there is none. An answer of S3 has no content.
func (c *Client) Delete(ctx context.Context, n Name) error {
	err := c.repeat(ctx, func(ctx context.Context) error {
		out, err := c.do(ctx, &request{method: http.MethodDelete, key: c.key(n)})
		if err != nil {
			return err
		}
		defer out.Body.Close()
		if out.StatusCode != http.StatusNoContent && out.ContentLength != 0 {
			return errNotS3
		}
		return nil
	})
	if errors.Is(err, ErrMissing) {
		return nil
	}
	return err
}

// An Object is one that List has found.
type Object struct {
	Name Name
	Size int64
	Age  time.Duration // since it was written, by the clock of the server, rounded up
}

// A listing is an answer to a request for a list.
type listing struct {
	XMLName  xml.Name `xml:"ListBucketResult"`
	Contents []struct {
		Key          string
		Size         int64
		LastModified time.Time
	}
	IsTruncated           bool
	NextContinuationToken string

	now time.Time // by the clock of the server
}

// List calls fn with objects in the order of their names, some at a time.
func (c *Client) List(ctx context.Context, fn func(list []Object) error) error {
	query := url.Values{"list-type": {"2"}, "prefix": {c.address.Prefix + "objects/"}}
	for {
		var l *listing
		err := c.repeat(ctx, func(ctx context.Context) (err error) {
			l, err = c.list(ctx, query)
			return err
		})
		if err != nil {
			return err
		}
		now := l.now.Add(time.Second) // an answer tells whole seconds
		var list []Object
		for _, o := range l.Contents {
			if n, ok := c.nameOf(o.Key); ok {
				list = append(list, Object{n, o.Size, now.Sub(o.LastModified)})
			}
		}
		if err := fn(list); err != nil {
			return err
		}
		if !l.IsTruncated || l.NextContinuationToken == "" {
			return nil
		}
		query.Set("continuation-token", l.NextContinuationToken)
	}
}

// list makes one request for a list.
func (c *Client) list(ctx context.Context, query url.Values) (*listing, error) {
	out, err := c.do(ctx, &request{method: http.MethodGet, query: query})
	if err != nil {
		return nil, err
	}
	defer out.Body.Close()
	text, err := io.ReadAll(io.LimitReader(out.Body, maxList))
	if err != nil {
		return nil, fmt.Errorf("%w: %w", errShort, err)
	}
	l := &listing{now: time.Now()}
	if err := xml.Unmarshal(text, l); err != nil {
		return nil, fmt.Errorf("%w (%w)", errNotS3, err)
	}
	if now, err := http.ParseTime(out.Header.Get("Date")); err == nil {
		l.now = now
	}
	return l, nil
}

// Try writes an object and removes it. If it cannot remove it, GC does that one day.
func (c *Client) Try(ctx context.Context) error {
	var n Name
	_, _ = rand.Read(n[:])
	text := []byte("Folio tries the bucket.\n")
	if err := c.Put(ctx, n, bytes.NewReader(text), int64(len(text))); err != nil {
		return err
	}
	return c.Delete(ctx, n)
}

// markerKey is the name of the object that says to which volume the bucket, or the prefix, belongs.
const markerKey = "folio-volume"

// maxMarker is how many bytes of a marker are read.
const maxMarker = 200

// Marker returns the text of the marker. It returns ErrMissing if there is none.
func (c *Client) Marker(ctx context.Context) (text string, err error) {
	err = c.repeat(ctx, func(ctx context.Context) error {
		out, err := c.do(ctx, &request{method: http.MethodGet, key: c.address.Prefix + markerKey})
		if err != nil {
			return err
		}
		defer out.Body.Close()
		p, err := io.ReadAll(io.LimitReader(out.Body, maxMarker))
		text = string(p)
		return err
	})
	return text, err
}

// Mark writes the marker, unless there is one. Servers that do not know the condition write it in
// any case, so the caller must read it again.
func (c *Client) Mark(ctx context.Context, text string) error {
	err := c.repeat(ctx, func(ctx context.Context) error {
		return c.put(ctx, &request{
			key: c.address.Prefix + markerKey, content: bytes.NewReader([]byte(text)), size: int64(len(text)),
			headers: map[string]string{"If-None-Match": "*"},
		})
	})
	if errors.Is(err, errExists) {
		return nil
	}
	return err
}

// Address returns where the objects are, as errors show it.
func (c *Client) Address() string { return c.address.String() }
