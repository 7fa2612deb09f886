package pgstore

import (
	"context"
	"net"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
)

// A machine that has vanished, or a network that is cut, sends nothing, and the system would wait
// for a quarter of an hour. maxSilence is for how long a server may not even acknowledge what it
// got; probes ask it to while a call waits. It may take as long as it wants for its answer.
const maxSilence = 9 * time.Second

// watchPeer lets a connection break after maxSilence.
func watchPeer(_ context.Context, _ *pgconn.Config, conn net.Conn) (net.Conn, error) {
	const probes = 2
	below := conn
	if secure, ok := conn.(interface{ NetConn() net.Conn }); ok {
		below = secure.NetConn()
	}
	if c, ok := below.(*net.TCPConn); ok { // without a limit of ours, that of the system holds
		_ = c.SetKeepAliveConfig(net.KeepAliveConfig{Enable: true, Idle: maxSilence / (probes + 1), Interval: maxSilence / (probes + 1), Count: probes})
		_ = limitSilence(c)
	}
	return conn, nil
}
