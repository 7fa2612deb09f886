package serve

import (
	"context"
	"crypto/tls"
	"net"
	"sync"
)

// A tlsListener returns connections after their TLS handshake, when it is known which protocol the
// client speaks. It returns a connection with a failed handshake, too: package http then answers
// and logs, as it does for connections that it shakes hands with itself.
type tlsListener struct {
	net.Listener
	config *tls.Config
	ready  chan net.Conn
	failed chan error
	closed context.Context
	close  context.CancelFunc
	start  sync.Once
}

func newTLSListener(l net.Listener, config *tls.Config) *tlsListener {
	t := &tlsListener{Listener: l, config: config, ready: make(chan net.Conn), failed: make(chan error)}
	t.closed, t.close = context.WithCancel(context.Background())
	return t
}

// Accept returns a connection whose handshake is over. Handshakes run at the same time, so that a
// client which never completes its own holds up nobody.
func (t *tlsListener) Accept() (net.Conn, error) {
	t.start.Do(func() { go t.acceptAll() })
	select {
	case conn := <-t.ready:
		return conn, nil
	case err := <-t.failed:
		return nil, err
	case <-t.closed.Done():
		return nil, net.ErrClosed
	}
}

// Close also ends the handshakes under way.
func (t *tlsListener) Close() error {
	t.close()
	return t.Listener.Close()
}

// acceptAll accepts connections until the listener is closed.
func (t *tlsListener) acceptAll() {
	for t.closed.Err() == nil {
		conn, err := t.Listener.Accept()
		if err == nil {
			go t.shakeHands(tls.Server(conn, t.config))
			continue
		}
		select {
		case t.failed <- err:
		case <-t.closed.Done():
		}
	}
}

// shakeHands completes the handshake of a connection, or lets it fail after a while.
func (t *tlsListener) shakeHands(conn *tls.Conn) {
	ctx, cancel := context.WithTimeout(t.closed, min(headerTime, stallTime))
	defer cancel()
	_ = conn.HandshakeContext(ctx) // package http gets the same error
	select {
	case t.ready <- conn:
	case <-t.closed.Done():
		_ = conn.Close()
	}
}
