package serve

import (
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"io/fs"
	"os"
	"time"
)

// endsSoon is how long before its end a certificate is warned of, or a quarter of its life if that
// is shorter.
const endsSoon = 14 * 24 * time.Hour

// hsts tells browsers to use TLS only for a month. A server that gives TLS up is out of their reach
// for that long.
const hsts = "max-age=2592000"

// certificateWarning says that the certificate has expired, or ends soon. It returns "" otherwise.
func (s *site) certificateWarning(now time.Time) string {
	cert := s.certificate.Load()
	if cert == nil || cert.Leaf == nil {
		return ""
	}
	end := cert.Leaf.NotAfter
	switch soon := min(endsSoon, end.Sub(cert.Leaf.NotBefore)/4); {
	case now.After(end):
		return "the certificate has expired at " + end.UTC().Format(time.RFC3339)
	case now.Add(soon).After(end):
		return "the certificate expires at " + end.UTC().Format(time.RFC3339)
	}
	return ""
}

var (
	errExpired  = errors.New("the certificate has expired")
	errNotValid = errors.New("the certificate is not valid yet")
)

// loadCertificate reads a certificate and its key, and refuses one that clients would refuse now.
// Its errors name the file that is at fault.
func loadCertificate(certFile, keyFile string) (*tls.Certificate, error) {
	certPEM, err := os.ReadFile(certFile)
	if err != nil {
		return nil, err
	}
	keyPEM, err := os.ReadFile(keyFile)
	if err != nil {
		return nil, err
	}
	cert, err := tls.X509KeyPair(certPEM, keyPEM)
	if err != nil {
		file := certFile
		if isCertificate(certPEM) {
			file = keyFile
		}
		return nil, &fs.PathError{Op: "read", Path: file, Err: err}
	}
	switch now := time.Now(); {
	case now.After(cert.Leaf.NotAfter):
		err = errExpired
	case now.Before(cert.Leaf.NotBefore):
		err = errNotValid
	default:
		return &cert, nil
	}
	return nil, &fs.PathError{Op: "read", Path: certFile, Err: err}
}

// isCertificate reports whether a text contains a certificate that can be read.
func isCertificate(text []byte) bool {
	for block, rest := pem.Decode(text); block != nil; block, rest = pem.Decode(rest) {
		if block.Type == "CERTIFICATE" {
			_, err := x509.ParseCertificate(block.Bytes)
			return err == nil
		}
	}
	return false
}
