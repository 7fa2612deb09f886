package serve

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"io/fs"
	"net"
	"net/http"
	"os"
	"time"

	"golang.org/x/net/netutil"
)

// Serve answers the requests that come to a listener, until ctx is done. Requests under way then
// have some seconds to end. cert, if not nil, is for TLS.
func (s *Server) Serve(ctx context.Context, l net.Listener, cert *tls.Certificate) error {
	server := &http.Server{
		Handler: s, ReadHeaderTimeout: min(headerTime, stallTime), IdleTimeout: idleTime, MaxHeaderBytes: maxHeader,
		HTTP2:    &http.HTTP2Config{MaxConcurrentStreams: maxStreams, WriteByteTimeout: stallTime, SendPingTimeout: stallTime / 2, PingTimeout: stallTime / 4},
		ErrorLog: s.errorLog(), BaseContext: func(net.Listener) context.Context { return context.WithoutCancel(ctx) },
	}
	l = &gateListener{Listener: netutil.LimitListener(l, maxConnections), site: s.site, gate: newGate(0, oneAddress)}
	if cert == nil && s.lane != nil {
		l = s.lane.join(server, l)
		defer s.lane.late.Wait()
	}
	if cert != nil {
		server.TLSConfig = &tls.Config{Certificates: []tls.Certificate{*cert}, MinVersion: tls.VersionTLS12}
	}
	failed := make(chan error, 1)
	go func() {
		if cert != nil {
			failed <- server.ServeTLS(l, "", "")
		} else {
			failed <- server.Serve(l)
		}
	}()
	select {
	case err := <-failed:
		return err
	case <-ctx.Done():
	}
	stop, cancel := context.WithTimeout(context.Background(), stopTime)
	defer cancel()
	if err := server.Shutdown(stop); err != nil {
		err = server.Close() // clients that stand still
		<-failed
		return err
	}
	if err := <-failed; !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return nil
}

var (
	errExpired  = errors.New("the certificate has expired")
	errNotValid = errors.New("the certificate is not valid yet")
)

// LoadCertificate reads a certificate and its key, and refuses one that clients would refuse now.
// Its errors name the file that is at fault.
func LoadCertificate(certFile, keyFile string) (*tls.Certificate, error) {
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

// isCertificate reports whether a text has a certificate that can be read.
func isCertificate(text []byte) bool {
	for block, rest := pem.Decode(text); block != nil; block, rest = pem.Decode(rest) {
		if block.Type == "CERTIFICATE" {
			_, err := x509.ParseCertificate(block.Bytes)
			return err == nil
		}
	}
	return false
}
