package pgstore

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/foliofs/folio/internal/store"
)

// Codes of errors of PostgreSQL (SQLSTATE) that a caller of a volume can tell apart.
const (
	codeSerialization = "40001"
	codeDeadlock      = "40P01"
	codeLockTimeout   = "55P03"
	codeDiskFull      = "53100"
	codeConnections   = "53300"
	codeReadOnly      = "25006"
	codeNoRight       = "42501"
	codeNoTable       = "42P01"
	codeNoSchema      = "3F000"
	codeNoColumn      = "42703"
	codeNoNumbers     = "2200H"
	codeCorrupt       = "XX001"
	codeIndexCorrupt  = "XX002"
	codeUnique        = "23505"
	codePassword      = "28P01"
	codeAccess        = "28000"
	codeNoDatabase    = "3D000"
	codeIdle          = "25P03"
	codeNotFirst      = "42P06" // the schema is there, which a migration should have made or changed
)

// codeOf returns the code of an error of the server, "" if it is another error.
func codeOf(err error) string {
	if e, ok := errors.AsType[*pgconn.PgError](err); ok {
		return e.Code
	}
	return ""
}

// ErrUnknown says that it is not known whether a change has happened: the connection broke during
// the commit. The change has happened as a whole or not at all. If the server still works on it, it
// may also happen a moment later.
var ErrUnknown = fmt.Errorf("%w during the commit: the change has happened as a whole or not at all; look before you repeat it", store.ErrUnreachable)

// isBroken reports whether an error is that of a connection, and not of a statement. An error of
// connecting is one, too: no server answers in time, or none of those that do is the primary. So is
// that of a server which changes nothing: it may not be the primary any more.
func isBroken(err error) bool {
	code := codeOf(err)
	if code != "" {
		return strings.HasPrefix(code, "08") || strings.HasPrefix(code, "57P") || code == codeIdle || code == codeReadOnly
	}
	if isConnecting(err) {
		return true
	}
	if err == nil || errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return false
	}
	_, isNet := errors.AsType[net.Error](err)
	return isNet || errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, net.ErrClosed) ||
		errors.Is(err, pgconn.ErrConnClosed) || pgconn.SafeToRetry(err)
}

// isConnecting reports whether an error is one of connecting: there was no connection.
func isConnecting(err error) bool {
	_, is := errors.AsType[*pgconn.ConnectError](err)
	return is
}

// isAway reports whether an error of connecting says that there is no server at any address. An
// address may be wrong then.
func isAway(err error) bool {
	e, connecting := errors.AsType[*pgconn.ConnectError](err)
	if !connecting || codeOf(err) != "" {
		return false
	}
	hosts, joined := e.Unwrap().(interface{ Unwrap() []error })
	if !joined {
		return true // its name leads nowhere
	}
	return !slices.ContainsFunc(hosts.Unwrap(), func(err error) bool {
		dial, isNet := errors.AsType[*net.OpError](err)
		return !isNet || dial.Op != "dial"
	})
}

// notConnected says why there is no connection. An address may have several hosts, and each host
// may be tried twice, with TLS and without.
func notConnected(err error) string {
	e, _ := errors.AsType[*pgconn.ConnectError](err)
	if !isAway(err) {
		return "no connection to the server: " + said(e.Unwrap())
	}
	_, address := pgconn.NetworkAddress(e.Config.Host, e.Config.Port)
	addresses := []string{address}
	for _, f := range e.Config.Fallbacks {
		if _, address := pgconn.NetworkAddress(f.Host, f.Port); !slices.Contains(addresses, address) {
			addresses = append(addresses, address)
		}
	}
	cause := said(err)
	if dial, isNet := errors.AsType[*net.OpError](err); isNet {
		cause = dial.Err.Error()
	}
	return fmt.Sprintf("no server answers at %s: %s: check host and port", strings.Join(addresses, ", "), cause)
}

// isConflict reports whether a transaction failed only because of another one, and can be repeated.
func isConflict(err error) bool {
	code := codeOf(err)
	return code == codeSerialization || code == codeDeadlock
}

// meanings are the errors of package store, and of io/fs, for codes of the server, with the way out
// where there is one.
var meanings = map[string]meaning{
	codeSerialization: {store.ErrBusy, ""},
	codeDeadlock:      {store.ErrBusy, ""},
	codeLockTimeout:   {store.ErrBusy, ""},
	codeConnections:   {store.ErrBusy, "the server allows no more connections: raise max_connections, or lower Options.MaxConns"},
	codeDiskFull:      {store.ErrFull, ""},
	codeNoNumbers:     {store.ErrFull, ""},
	codeUnique:        {store.ErrBusy, "what it names was added by another transaction, or swept, meanwhile"},
	codeReadOnly:      {store.ErrReadOnly, ""},
	codeNoRight:       {fs.ErrPermission, "grant the role rights on the schema of the volume, its tables and sequences"},
	codeNoTable:       {store.ErrDamaged, "its tables are not those of a volume, or it was removed"},
	codeNoSchema:      {store.ErrDamaged, "its schema is gone"},
	codeNoColumn:      {store.ErrDamaged, "its tables are not those of a volume"},
	codeCorrupt:       {store.ErrDamaged, ""},
	codeIndexCorrupt:  {store.ErrDamaged, ""},
	codePassword:      {fs.ErrPermission, "check user and password"},
	codeAccess:        {fs.ErrPermission, "check user, password and pg_hba.conf"},
}

// A meaning explains a code of the server.
type meaning struct {
	err error
	way string // out; or ""
}

// explain returns the text of an error: its meaning, the words of the server, and the way out.
func (m meaning) explain(said string) string {
	text := said
	if !strings.HasPrefix(said, m.err.Error()) { // both begin with "permission denied"
		text = fmt.Sprintf("%v (%s)", m.err, said)
	}
	if m.way != "" {
		text += ": " + m.way
	}
	return text
}

// explain lets an error of the server match the one of package store that means the same, on one
// line.
func explain(err error) error {
	if _, done := errors.AsType[*serverError](err); err == nil || done {
		return err
	}
	m, known := meanings[codeOf(err)]
	switch {
	case codeOf(err) == codeNoDatabase:
		return &serverError{noDatabase(err), fs.ErrNotExist, err}
	case known:
		return &serverError{m.explain(said(err)), m.err, err}
	case isBroken(err) && isConnecting(err):
		return &serverError{notConnected(err), store.ErrUnreachable, err}
	case isBroken(err):
		return &serverError{fmt.Sprintf("%v: %s", store.ErrUnreachable, said(err)), store.ErrUnreachable, err}
	case codeOf(err) != "":
		return &serverError{said(err), nil, err}
	}
	return err
}

// noDatabase returns the text of an error of connecting to a database that is not there.
func noDatabase(err error) string {
	name := ""
	if e, connecting := errors.AsType[*pgconn.ConnectError](err); connecting {
		name = e.Config.Database
	}
	if name == "" { // the server takes the name of the user
		return said(err) + ": name a database in the address"
	}
	return fmt.Sprintf("database %q does not exist: make it first: createdb %s, or name another one in the address", name, name)
}

// A serverError is an error of the server, or of the connection to it, in words of this package.
type serverError struct {
	text string
	is   error // what it means; or nil
	err  error
}

func (e *serverError) Error() string { return e.text }

func (e *serverError) Is(target error) bool { return e.is != nil && errors.Is(e.is, target) }

func (e *serverError) Unwrap() error { return e.err }

// said returns the text of an error, on one line and once. An error of connecting says it for each
// address that was tried.
func said(err error) string {
	if e, ok := errors.AsType[*pgconn.PgError](err); ok {
		return strings.Join(strings.Fields(e.Message), " ")
	}
	if e, ok := errors.AsType[*net.OpError](err); ok {
		return e.Error()
	}
	if e, ok := errors.AsType[*net.DNSError](err); ok {
		return e.Error()
	}
	return strings.Join(strings.Fields(err.Error()), " ")
}

// errRolledBack says that the server has rolled a transaction back in place of a commit.
var errRolledBack = errors.New("the server rolled the transaction back")
