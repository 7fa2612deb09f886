// Package bucket keeps immutable objects in a bucket of S3. It says how requests are repeated and
// what their errors mean; what the objects are, package pgstore says.
//
// Credentials and region are those that Amazon's tools find: in the environment, in the files of
// ~/.aws, and where the machine or the container has them.
package bucket

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"net/http"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	awsmiddleware "github.com/aws/aws-sdk-go-v2/aws/middleware"
	awshttp "github.com/aws/aws-sdk-go-v2/aws/transport/http"
	"github.com/aws/aws-sdk-go-v2/config"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/smithy-go/middleware"
	smithyhttp "github.com/aws/smithy-go/transport/http"
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
	s3      *s3.Client
	address *Address
	timeout time.Duration
}

// maxIdle is how many connections stay open between requests.
const maxIdle = 32

// New returns a client. Each request, with its repetitions, takes no longer than timeout.
func New(ctx context.Context, a *Address, timeout time.Duration) (*Client, error) {
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	transport := awshttp.NewBuildableClient().WithTransportOptions(func(t *http.Transport) {
		t.MaxIdleConns, t.MaxIdleConnsPerHost = maxIdle, maxIdle
	})
	options := []func(*config.LoadOptions) error{config.WithHTTPClient(transport), config.WithDefaultRegion("us-east-1")}
	if a.Region != "" {
		options = append(options, config.WithRegion(a.Region))
	}
	if a.Profile != "" {
		options = append(options, config.WithSharedConfigProfile(a.Profile))
	}
	c, err := config.LoadDefaultConfig(ctx, options...)
	if err != nil {
		return nil, fmt.Errorf("%s: %s", a, oneLine(err))
	}
	client := s3.NewFromConfig(c, func(o *s3.Options) {
		o.UsePathStyle = a.PathStyle
		o.Retryer = aws.NopRetryer{} // repeat does that
		o.RequestChecksumCalculation = aws.RequestChecksumCalculationWhenRequired
		o.ResponseChecksumValidation = aws.ResponseChecksumValidationWhenRequired
		if a.Endpoint != "" {
			o.BaseEndpoint = &a.Endpoint
		}
	})
	return &Client{s3: client, address: a, timeout: timeout}, nil
}

// put makes a request that writes an object. A server of S3 confirms it with an ETag; what answers
// without one, such as a proxy with a page for a login, has kept nothing.
func (c *Client) put(ctx context.Context, in *s3.PutObjectInput) error {
	in.Bucket = &c.address.Bucket
	out, err := c.s3.PutObject(ctx, in)
	if err == nil && aws.ToString(out.ETag) == "" {
		return errNotS3
	}
	return err
}

// Put writes an object. When it returns nil, the server has confirmed it, and has compared it with
// a checksum of the request.
func (c *Client) Put(ctx context.Context, n Name, body io.ReadSeeker, size int64) error {
	key := c.key(n)
	return c.repeat(ctx, func(ctx context.Context) error {
		if _, err := body.Seek(0, io.SeekStart); err != nil {
			return err
		}
		return c.put(ctx, &s3.PutObjectInput{Key: &key, Body: body, ContentLength: &size})
	})
}

// Get fills p with the bytes of an object from off on. All of them must be there. It calls filled,
// if that is not nil, whenever some more of p is filled, and with 0 whenever it begins again: then
// all of p is written once more.
func (c *Client) Get(ctx context.Context, n Name, p []byte, off int64, filled func(n int)) error {
	key, bytes := c.key(n), fmt.Sprintf("bytes=%d-%d", off, off+int64(len(p))-1)
	if filled == nil {
		filled = func(int) {}
	}
	return c.repeat(ctx, func(ctx context.Context) error {
		out, err := c.s3.GetObject(ctx, &s3.GetObjectInput{Bucket: &c.address.Bucket, Key: &key, Range: &bytes})
		if err != nil {
			return err
		}
		defer out.Body.Close()
		if got := aws.ToInt64(out.ContentLength); got != int64(len(p)) {
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

// Delete removes an object. It is no error if there is none.
func (c *Client) Delete(ctx context.Context, n Name) error {
	key := c.key(n)
	err := c.repeat(ctx, func(ctx context.Context) error {
		out, err := c.s3.DeleteObject(ctx, &s3.DeleteObjectInput{Bucket: &c.address.Bucket, Key: &key})
		if err == nil && hasContent(out.ResultMetadata) {
			return errNotS3
		}
		return err
	})
	if errors.Is(err, ErrMissing) {
		return nil
	}
	return err
}

// hasContent reports whether an answer has content. That of S3 to a removal has none.
func hasContent(answer middleware.Metadata) bool {
	r, ok := awsmiddleware.GetRawResponse(answer).(*smithyhttp.Response)
	return ok && r.StatusCode != http.StatusNoContent && r.ContentLength != 0
}

// An Object is one that List has found.
type Object struct {
	Name Name
	Size int64
	Age  time.Duration // since it was written, by the clock of the server, rounded up
}

// List calls fn with objects in the order of their names, some at a time.
func (c *Client) List(ctx context.Context, fn func(list []Object) error) error {
	prefix := c.address.Prefix + "objects/"
	in := &s3.ListObjectsV2Input{Bucket: &c.address.Bucket, Prefix: &prefix}
	for {
		var out *s3.ListObjectsV2Output
		err := c.repeat(ctx, func(ctx context.Context) (err error) {
			out, err = c.s3.ListObjectsV2(ctx, in)
			if err == nil && out.Name == nil && out.IsTruncated == nil { // any XML is an empty list for the library
				return errNotS3
			}
			return err
		})
		if err != nil {
			return err
		}
		now, ok := awsmiddleware.GetServerTime(out.ResultMetadata)
		if !ok {
			now = time.Now()
		}
		now = now.Add(time.Second) // an answer tells whole seconds
		var list []Object
		for _, o := range out.Contents {
			if n, ok := c.nameOf(aws.ToString(o.Key)); ok {
				list = append(list, Object{n, aws.ToInt64(o.Size), now.Sub(aws.ToTime(o.LastModified))})
			}
		}
		if err := fn(list); err != nil {
			return err
		}
		if !aws.ToBool(out.IsTruncated) || aws.ToString(out.NextContinuationToken) == "" {
			return nil
		}
		in.ContinuationToken = out.NextContinuationToken
	}
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
	key := c.address.Prefix + markerKey
	err = c.repeat(ctx, func(ctx context.Context) error {
		out, err := c.s3.GetObject(ctx, &s3.GetObjectInput{Bucket: &c.address.Bucket, Key: &key})
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
	key, any := c.address.Prefix+markerKey, "*"
	err := c.repeat(ctx, func(ctx context.Context) error {
		return c.put(ctx, &s3.PutObjectInput{Key: &key, Body: bytes.NewReader([]byte(text)), IfNoneMatch: &any})
	})
	if errors.Is(err, errExists) {
		return nil
	}
	return err
}

// Address returns where the objects are, as errors show it.
func (c *Client) Address() string { return c.address.String() }
