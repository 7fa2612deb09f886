package main

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"math/big"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// certificate writes a certificate for localhost and its key.
func certificate(t *testing.T, dir, name string, from, to time.Time) (cert, key string) {
	t.Helper()
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "localhost"}, DNSNames: []string{"localhost"}, NotBefore: from, NotAfter: to}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &private.PublicKey, private)
	if err != nil {
		t.Fatal(err)
	}
	pkcs, err := x509.MarshalPKCS8PrivateKey(private)
	if err != nil {
		t.Fatal(err)
	}
	cert, key = filepath.Join(dir, name+".crt"), filepath.Join(dir, name+".key")
	for file, block := range map[string]*pem.Block{cert: {Type: "CERTIFICATE", Bytes: der}, key: {Type: "PRIVATE KEY", Bytes: pkcs}} {
		if err := os.WriteFile(file, pem.EncodeToMemory(block), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return cert, key
}

// TestServeCertificates starts servers with certificates that clients would refuse, or that cannot
// be read. One line names the file and the cause.
func TestServeCertificates(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	volume := filepath.Join(dir, "v.folio")
	mustRun(t, "create", volume)
	now, day := time.Now(), 24*time.Hour
	good, goodKey := certificate(t, dir, "good", now.Add(-day), now.Add(day))
	expired, expiredKey := certificate(t, dir, "expired", now.Add(-2*day), now.Add(-day))
	early, earlyKey := certificate(t, dir, "early", now.Add(day), now.Add(2*day))
	missing, garbage, empty := filepath.Join(dir, "missing"), filepath.Join(dir, "garbage"), filepath.Join(dir, "empty")
	for file, text := range map[string]string{garbage: "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n", empty: ""} {
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, tt := range []struct{ cert, key, file, says string }{
		{expired, expiredKey, expired, "the certificate has expired"},
		{early, earlyKey, early, "the certificate is not valid yet"},
		{good, expiredKey, expiredKey, "private key does not match public key"},
		{good, missing, missing, "no such file"},
		{missing, goodKey, missing, "no such file"},
		{garbage, goodKey, garbage, "x509: "},
		{good, garbage, garbage, "PEM"},
		{empty, goodKey, empty, "failed to find any PEM data"},
		{good, empty, empty, "failed to find any PEM data"},
		{goodKey, good, goodKey, "certificate"},
		{dir, goodKey, dir, "is a directory"},
		{good, dir, dir, "is a directory"},
	} {
		code, _, stderr := runFolio(t, "serve", "--listen", "127.0.0.1:0", "--tls-cert", tt.cert, "--tls-key", tt.key, volume)
		if code != exitFailure || strings.Count(stderr, "\n") != 1 || !strings.HasPrefix(stderr, "folio: "+tt.file+": ") || !strings.Contains(stderr, tt.says) {
			t.Errorf("%s with %s: exit %d, %q", filepath.Base(tt.cert), filepath.Base(tt.key), code, stderr)
		}
	}
}
