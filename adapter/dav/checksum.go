package dav

import (
	"crypto/md5"
	"crypto/sha1"
	"crypto/sha256"
	"crypto/sha512"
	"encoding/hex"
	"errors"
	"hash"
	"hash/adler32"
	"io"
	"net/http"
	"strings"
)

// checksums lists the kinds that ownCloud's header OC-Checksum may name, for example as SHA1:HEX.
var checksums = map[string]func() hash.Hash{
	"ADLER32": func() hash.Hash { return adler32.New() }, "MD5": md5.New, "SHA1": sha1.New, "SHA256": sha256.New, "SHA512": sha512.New,
}

var errChecksum = errors.New("the body is not what OC-Checksum says")

// CheckBody replaces the body of a request: a reader of the new one gets a *Refusal at the end if
// the content does not match the header OC-Checksum, for example
// "MD5:098f6bcd4621d373cade4e832627b4f6". It ignores checksums of a kind that it does not know.
func CheckBody(r *http.Request) {
	kind, sum, _ := strings.Cut(r.Header.Get("OC-Checksum"), ":")
	if sums := checksums[strings.ToUpper(kind)]; sums != nil {
		r.Body = &checkedBody{ReadCloser: r.Body, sum: strings.ToLower(strings.TrimSpace(sum)), hash: sums()}
	}
}

// A checkedBody computes the checksum of the bytes that are read.
type checkedBody struct {
	io.ReadCloser
	sum  string
	hash hash.Hash
}

func (b *checkedBody) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	b.hash.Write(p[:n])
	if err == io.EOF && hex.EncodeToString(b.hash.Sum(nil)) != b.sum {
		err = refuse(errChecksum, http.StatusBadRequest)
	}
	return n, err
}
