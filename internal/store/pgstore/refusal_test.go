//go:build unix

package pgstore_test

import (
	"context"
	"errors"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/foliofs/folio"
	"github.com/foliofs/folio/internal/must"
	"github.com/foliofs/folio/internal/store"
	"github.com/foliofs/folio/internal/store/pgstore"
	"github.com/foliofs/folio/internal/store/pgstore/pgserver"
)

// TestRefusals opens what is no volume, or cannot be opened. The error is one line that names the
// address without its password.
func TestRefusals(t *testing.T) {
	t.Parallel()
	server := pgserver.Shared(t)
	socket := "?host=" + server.Socket()
	web := httptest.NewServer(http.NotFoundHandler())
	t.Cleanup(web.Close)
	other := web.Listener.Addr().String()
	for name, c := range map[string]struct {
		address string
		queries []string // on the database, with @ for the schema
		is      error
		text    string
	}{
		"no volume":    {is: store.ErrNotVolume, text: "no volume of that name"},
		"foreign":      {queries: []string{"CREATE SCHEMA @", "CREATE TABLE @.t ()"}, is: store.ErrNotVolume, text: "another application"},
		"other table":  {queries: []string{"CREATE SCHEMA @", "CREATE TABLE @.volume ()"}, is: store.ErrNotVolume, text: "another application"},
		"other name":   {queries: []string{"CREATE SCHEMA @", "CREATE TABLE @.volume AS SELECT 'x' AS application, 1 AS version"}, is: store.ErrNotVolume},
		"newer":        {queries: []string{"CREATE SCHEMA @", "CREATE TABLE @.volume AS SELECT 'folio' AS application, 99 AS version"}, is: store.ErrNewerVersion, text: "update"},
		"version 0":    {queries: []string{"CREATE SCHEMA @", "CREATE TABLE @.volume AS SELECT 'folio' AS application, 0 AS version"}, is: store.ErrDamaged},
		"no database":  {address: "postgres://folio@/none" + socket, is: fs.ErrNotExist, text: `: database "none" does not exist: make it first: createdb none,`},
		"last slash":   {address: "postgres://folio@/postgres/" + socket, is: fs.ErrNotExist, text: `database "postgres/" does not exist`},
		"unnamed":      {address: "postgres://folio@" + socket, is: fs.ErrNotExist, text: `database "folio" does not exist: name a database in the address`},
		"no user":      {address: "postgres://none@/postgres" + socket, is: fs.ErrPermission, text: "user"},
		"refused":      {address: "postgres://folio:secret@127.0.0.1:1/x", text: "no server answers at 127.0.0.1:1: connect: connection refused: check"},
		"two refused":  {address: "postgres://folio:secret@127.0.0.1:1,127.0.0.1:2/x", text: "no server answers at 127.0.0.1:1, 127.0.0.1:2: connect: connection refused"},
		"no host":      {address: "postgres://folio:secret@host.invalid/x", text: "no server answers at host.invalid:5432: "},
		"of the key":   {address: "postgres://folio@127.0.0.1:1/x?sslpassword=secret", text: "connection refused"},
		"no socket":    {address: "postgres://folio:secret@/x?host=/none", text: "no server answers at /none/.s.PGSQL.5432: connect: no such file or directory"},
		"no standby":   {address: "postgres://folio@/postgres" + socket + "&target_session_attrs=standby", text: "no connection to the server: "},
		"other kind":   {address: "postgres://folio:secret@" + other + "/x", text: "no connection to the server: "},
		"no address":   {address: "host=localhost password=secret", text: "write postgres://"},
		"bad address":  {address: "postgres://folio:secret@[/x", text: "write postgres://"},
		"bad name":     {address: "postgres://folio@/postgres" + socket + "&volume=../x", text: "name of a volume"},
		"bad setting":  {address: "postgres://folio:secret@localhost/postgres?sslmode=often", text: "sslmode is invalid"},
		"bad server":   {address: "postgres://folio:secret@localhost/postgres?target_session_attrs=primary2", text: "not the address of a volume: unknown target_session_attrs value: primary2"},
		"bad time":     {address: "postgres://folio:secret@localhost/postgres?connect_timeout=x", text: "invalid connect_timeout"},
		"bad number":   {address: "postgres://folio@localhost/postgres?pool_max_conns=x&password=secret", text: "cannot parse pool_max_conns"},
		"bad service":  {address: "postgres://folio:secret@localhost/postgres?service=nope", text: "failed to read service"},
		"bad secret":   {address: "postgres://folio:secret@localhost/postgres?min_protocol_version=secret", text: "write postgres://"},
		"no name":      {address: "postgres://folio@/postgres" + socket + "&volume=", text: "name of a volume"},
		"semicolon":    {address: "postgres://folio@/postgres" + socket + "&volume=a;sslmode=disable", text: "write &"},
		"semicolon 2":  {address: "postgres://folio@/postgres" + socket + "&volume=a&password=secret;x=1", text: "write &"},
		"bad escape":   {address: "postgres://folio@/postgres" + socket + "&volume=a%zz", text: "%25"},
		"cut escape":   {address: "postgres://folio@/postgres" + socket + "&password=secret%", text: "%25"},
		"twice":        {address: "postgres://folio@/postgres" + socket + "&volume=a&volume=b", text: "volume is given twice"},
		"slash":        {address: "postgres://folio:1/secret@127.0.0.1/x", text: "in a password write"},
		"question":     {address: "postgres://folio:1?secret@127.0.0.1/x", text: "? as %3F"},
		"percent":      {address: "postgres://folio:%secret@127.0.0.1/x", text: "in a password write % as %25"},
		"hash":         {address: "postgres://folio:a#secret@127.0.0.1/x", text: "# as %23"},
		"ssl password": {address: "postgres://folio@127.0.0.1:1/x?sslpassword=secret", text: "connection refused"},
		"fragment":     {address: "postgres://folio@/postgres" + socket + "&volume=a#&sslmode=verify-full", text: "%23"},
		"as text":      {address: "postgres://folio:secret@localhost/x?default_query_exec_mode=exec", text: "cache_describe"},
		"simple":       {address: "postgres://folio:secret@localhost/x?default_query_exec_mode=simple_protocol", text: "cache_describe"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			address, o := c.address, &pgstore.Options{BusyTimeout: 300e6}
			if address == "" {
				address = pgserver.Volume(t)
			}
			for _, query := range c.queries {
				_, schema, _ := strings.Cut(pgstore.PlainAddress(address), "search_path=")
				_, err := connect(t, address).Exec(context.Background(), strings.ReplaceAll(query, "@", schema))
				must.Do(t, err)
			}
			s, err := pgstore.Open(context.Background(), address, o)
			if err == nil {
				_ = s.Close()
				t.Fatal("opened")
			}
			_, ok := errors.AsType[*fs.PathError](err)
			if !ok || c.is != nil && !errors.Is(err, c.is) || !strings.Contains(err.Error(), c.text) || strings.ContainsAny(err.Error(), "\n\t") || strings.Contains(err.Error(), "secret") {
				t.Errorf("%v, want %v with %q", err, c.is, c.text)
			}
		})
	}
}

// TestOldServer refuses servers by their versions.
func TestOldServer(t *testing.T) {
	for said, ok := range map[string]bool{
		"15.18 (Debian 15.18-0+deb12u1)": true, "13.0": true, "18beta1": true, "12.22": false, "9.6.24": false, "": true,
	} {
		if err := pgstore.AdmitServer(said); (err == nil) != ok {
			t.Errorf("%s: %v", said, err)
		}
	}
}

// TestRights opens volumes with roles that may do little.
func TestRights(t *testing.T) {
	t.Parallel()
	address := pgserver.Volume(t)
	must.Do(t, open(t, address, nil).Update(context.Background(), func(tx store.Tx) error {
		return tx.Link(store.Root, store.Entry{Name: "name", Ino: 1, Type: store.Dir})
	}))
	c := connect(t, address)
	_, schema, _ := strings.Cut(pgstore.PlainAddress(address), "search_path=")
	for _, query := range []string{
		"CREATE ROLE reader LOGIN", "CREATE ROLE stranger LOGIN", "CREATE ROLE owner LOGIN", "CREATE ROLE writer LOGIN", "GRANT USAGE ON SCHEMA " + schema + " TO reader",
		"GRANT SELECT ON ALL TABLES IN SCHEMA " + schema + " TO reader", "CREATE SCHEMA folio_given AUTHORIZATION owner",
	} {
		_, err := c.Exec(context.Background(), query)
		must.Do(t, err)
	}
	as := func(role, address string) string { return strings.Replace(address, "folio@", role+"@", 1) }
	s := open(t, as("reader", address), &pgstore.Options{})
	rx, err := s.Begin(context.Background())
	must.Do(t, err)
	if e, err := rx.Lookup(store.Root, "name"); err != nil || e.Ino != 1 {
		t.Errorf("a reader: %+v, %v", e, err)
	}
	rx.End()
	if err := s.Update(context.Background(), func(store.Tx) error { return nil }); !errors.Is(err, store.ErrReadOnly) {
		t.Errorf("a reader writes: %v", err)
	}
	for _, a := range []string{as("stranger", address), as("reader", pgserver.Volume(t))} {
		_, err := pgstore.Open(context.Background(), a, &pgstore.Options{Create: true})
		if !errors.Is(err, fs.ErrPermission) || !strings.Contains(err.Error(), "grant") {
			t.Errorf("%s: %v", a, err)
		}
	}
	shared := pgserver.Volume(t)
	must.Do(t, open(t, shared, nil).Close())
	_, schema, _ = strings.Cut(pgstore.PlainAddress(shared), "search_path=")
	for _, right := range []string{"USAGE ON SCHEMA ", "SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA ", "USAGE ON ALL SEQUENCES IN SCHEMA "} {
		_, err := c.Exec(context.Background(), "GRANT "+right+schema+" TO writer")
		must.Do(t, err)
	}
	changesAll(t, volume(t, as("writer", shared)))
	given := open(t, as("owner", pgserver.Shared(t).Address("given")), nil)
	must.Do(t, given.Update(context.Background(), func(tx store.Tx) error { return tx.SetXattr(store.Root, "user.a", []byte("a")) }))
}

// TestSessionRights opens a volume with roles that lack one of the rights of a session. The error
// names it. Without the right to begin a session, a role reads.
func TestSessionRights(t *testing.T) {
	t.Parallel()
	address := pgserver.Volume(t)
	must.Do(t, volume(t, address).WriteFile("file", nil, 0o644))
	c := connect(t, address)
	_, schema, _ := strings.Cut(pgstore.PlainAddress(address), "search_path=")
	exec := func(text string) {
		t.Helper()
		_, err := c.Exec(ctx, strings.ReplaceAll(text, "@", schema))
		must.Do(t, err)
	}
	role := "held_" + schema
	exec("CREATE ROLE " + role + " LOGIN")
	exec("GRANT USAGE ON SCHEMA @ TO " + role)
	as := strings.Replace(address, "folio@", role+"@", 1)
	for _, right := range []string{"UPDATE ON @.session", "DELETE ON @.session", "SELECT ON @.orphan", "UPDATE ON @.orphan", "DELETE ON @.version", "INSERT ON @.session", ""} {
		exec("GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA @ TO " + role)
		if right != "" {
			exec("REVOKE " + right + " FROM " + role)
		}
		s, err := pgstore.Open(ctx, as, nil)
		named := strings.ReplaceAll(strings.ReplaceAll(right, "@", schema), schema, `"`+schema+`"`)
		switch {
		case right == "" || right == "INSERT ON @.session":
			must.Do(t, err)
			must.Do(t, s.Close())
		case err == nil:
			_ = s.Close()
			t.Errorf("opened without %s", right)
		case !errors.Is(err, fs.ErrPermission) || !strings.Contains(err.Error(), named) || strings.Contains(err.Error(), "\n"):
			t.Errorf("without %s: %v", right, err)
		}
	}
}

// TestRightTaken takes one right after the other from a role that writes. The error names the
// table.
func TestRightTaken(t *testing.T) {
	t.Parallel()
	address := pgserver.Volume(t)
	must.Do(t, volume(t, address).WriteFile("file", []byte("old"), 0o644))
	c := connect(t, address)
	_, schema, _ := strings.Cut(pgstore.PlainAddress(address), "search_path=")
	exec := func(query string) {
		t.Helper()
		_, err := c.Exec(context.Background(), strings.ReplaceAll(query, "@", schema))
		must.Do(t, err)
	}
	exec("CREATE ROLE taken LOGIN")
	writer := strings.Replace(address, "folio@", "taken@", 1)
	for _, r := range []struct{ right, is string }{
		{"INSERT ON @.session", "volume is read-only: the role may not insert into table session: grant"},
		{"INSERT ON @.data", "permission denied for table data: grant"},
		{"UPDATE ON @.node", "permission denied for table node: grant"},
	} {
		exec("GRANT USAGE ON SCHEMA @ TO taken")
		exec("GRANT ALL ON ALL TABLES IN SCHEMA @ TO taken")
		exec("GRANT ALL ON ALL SEQUENCES IN SCHEMA @ TO taken")
		exec("REVOKE " + r.right + " FROM taken")
		v := volumeAs(t, writer, nil, nil)
		err := v.WriteFile("file", []byte("new"), 0o644)
		if err == nil || !strings.HasSuffix(err.Error(), r.is+" the role rights on the schema of the volume, its tables and sequences") {
			t.Errorf("without %s: %v", r.right, err)
		}
		if p, err := v.ReadFile("file"); err != nil || string(p) != "old" {
			t.Errorf("without %s: %q, %v", r.right, p, err)
		}
	}
}

// changesAll changes rows of each kind.
func changesAll(t *testing.T, v *folio.Volume) {
	t.Helper()
	must.Do(t, v.Mkdir("dir", 0o755))
	must.Do(t, v.WriteFile("dir/file", make([]byte, 1<<20), 0o644))
	must.Do(t, v.Symlink("file", "dir/link"))
	must.Do(t, v.SetXattr("dir/file", "user.a", []byte("a")))
	must.Do(t, v.Clone("dir", "copy"))
	must.Do(t, v.Rename("copy", "moved"))
	f, err := v.Open("dir/file")
	must.Do(t, err)
	must.Do(t, v.RemoveAll("dir"))
	must.Do(t, f.Close())
	must.Do(t, v.Sync(context.Background()))
	if report, err := v.Check(context.Background(), nil); err != nil || !report.OK() {
		t.Errorf("a writer: %+v, %v", report, err)
	}
}
