package serve

import (
	"context"
	"crypto/tls"
	"errors"
	"net"
	"net/http"

	"golang.org/x/net/netutil"
)

// Serve answers the requests that come to a listener, until ctx is done. Requests under way then
// have some seconds to end. If cert is not nil, clients must use TLS. Follow may replace cert.
func (s *Server) Serve(ctx context.Context, l net.Listener, cert *tls.Certificate) error {
	server := &http.Server{
		Handler: s, ReadHeaderTimeout: min(headerTime, stallTime), IdleTimeout: idleTime, MaxHeaderBytes: maxHeader,
		HTTP2:    &http.HTTP2Config{MaxConcurrentStreams: maxStreams, WriteByteTimeout: stallTime, SendPingTimeout: stallTime / 2, PingTimeout: stallTime / 4},
		ErrorLog: s.errorLog(), BaseContext: func(net.Listener) context.Context { return context.WithoutCancel(ctx) },
	}
	l = &gateListener{Listener: netutil.LimitListener(l, maxConnections), site: s.site, gate: newGate(0, oneAddress)}
	if cert != nil {
		s.certificate.Store(cert)
		server.TLSConfig = &tls.Config{
			MinVersion: tls.VersionTLS12, NextProtos: []string{"h2", "http/1.1"},
			GetCertificate: func(*tls.ClientHelloInfo) (*tls.Certificate, error) { return s.certificate.Load(), nil },
		}
		l = newTLSListener(l, server.TLSConfig)
	}
	if s.cached != nil {
		l = s.cached.join(server, l)
		defer s.cached.late.Wait()
	}
	failed := make(chan error, 1)
	go func() { failed <- server.Serve(l) }()
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
