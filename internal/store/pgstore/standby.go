package pgstore

import (
	"fmt"

	"github.com/jackc/pgx/v5/pgconn"
)

// A server that waits for a synchronous standby stops if an administrator cancels the statement. It
// then says that the commit was done, and only warns that no standby has confirmed it.

// errUnconfirmed is for such a commit. If the standby takes over, the change may be gone.
var errUnconfirmed = fmt.Errorf("no standby server has confirmed the change: %w", ErrUnknown)

// unconfirmedKey is for what noticeStandby keeps of a connection.
const unconfirmedKey = "folio.unconfirmed"

// noticeStandby takes the warnings of a server. The function that waits has this name in all
// versions of PostgreSQL.
func noticeStandby(c *pgconn.PgConn, n *pgconn.Notice) {
	if n.Routine == "SyncRepWaitForLSN" {
		c.CustomData()[unconfirmedKey] = true
	}
}

// watchStandby returns a function that tells whether the server has warned since.
func watchStandby(c *pgconn.PgConn) (unconfirmed func() error) {
	delete(c.CustomData(), unconfirmedKey)
	return func() error {
		if c.CustomData()[unconfirmedKey] != nil {
			return errUnconfirmed
		}
		return nil
	}
}
