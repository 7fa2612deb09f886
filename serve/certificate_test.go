package serve_test

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"math/big"
	"testing"
	"time"
)

// makeCertificate returns a certificate for localhost and its key, as PEM.
func makeCertificate(t testing.TB, name string, from, to time.Time) (cert, key []byte) {
	t.Helper()
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	check(t, err)
	template := &x509.Certificate{SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: name}, DNSNames: []string{"localhost"}, NotBefore: from, NotAfter: to}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &private.PublicKey, private)
	check(t, err)
	pkcs, err := x509.MarshalPKCS8PrivateKey(private)
	check(t, err)
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}), pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: pkcs})
}

// certificateOf returns a certificate for a server with TLS, and nil for one without.
func certificateOf(t testing.TB, secure bool) *tls.Certificate {
	t.Helper()
	if !secure {
		return nil
	}
	cert, err := tls.X509KeyPair(makeCertificate(t, "localhost", time.Now().Add(-time.Hour), time.Now().Add(1000*time.Hour)))
	check(t, err)
	return &cert
}
