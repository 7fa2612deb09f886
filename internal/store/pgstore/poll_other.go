//go:build !unix

package pgstore

import (
	"net"

	"github.com/jackc/pgx/v5"
)

// polled returns conn: reads only wait here.
func polled(conn net.Conn) net.Conn { return conn }

func expectSoon(*pgx.Conn) {}
