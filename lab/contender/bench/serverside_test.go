//go:build unix

package bench

import (
	"errors"
	"flag"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/jackc/pgx/v5/pgxpool"
	"golang.org/x/sys/unix"

	"github.com/foliofs/folio/internal/store/pgstore/pgserver"
)

// serverAddress is that of a database, in which the benchmark makes two schemas and removes them.
var serverAddress = flag.String("server", os.Getenv("FOLIO_BENCH_POSTGRES"), "`address` of a database of PostgreSQL, in place of a server that is started")

// A serverSide is one of those that are compared. The floor is no keeper.
type serverSide struct {
	name string
	keeper
	place string // by which another process opens it
}

// A keeper keeps files by their names.
type keeper interface {
	// fill makes files, and the directories that lead to them.
	fill(files []namedContent) error
	mkdir(dir string) error
	// create makes a file, which is durable when it returns. Any number of goroutines call it.
	create(name string, content []byte) error
	read(name string) ([]byte, error)
	stat(name string) (size int64, err error)
	// list reads the entries of a directory with their attributes.
	list(dir string) (sum, error)
	count(dir string) (files int, err error)
	// copyIn and copyOut copy a tree from disk and back.
	copyIn(from, dir string) error
	copyOut(dir, to string) error
	clone(dir, to string) error
	close() error
}

type namedContent struct {
	name    string
	content []byte
}

// A benchServer is a server with a schema for the floor and for the side that is plain SQL.
type benchServer struct {
	address string // of the volume
	plain   string // of the schema
	pool    *pgxpool.Pool
}

// floorClients are the clients that insert rows at once.
const floorClients = 50

// newServer starts a server, unless there is one. What the benchmark has made goes with its end.
func newServer(b *testing.B) *benchServer {
	database := *serverAddress
	if database == "" {
		database = localServer(b)
	}
	own := "lab_" + strconv.Itoa(os.Getpid())
	s := &benchServer{with(b, database, "volume", own), with(b, database, "search_path", own), nil}
	var err error
	s.pool, err = openPool(s.plain, floorClients)
	must(b, err)
	b.Cleanup(s.pool.Close)
	for _, name := range []string{"fsync", "synchronous_commit"} {
		var value string
		must(b, s.pool.QueryRow(background, "SELECT current_setting($1)", name).Scan(&value))
		if value != "on" {
			b.Fatalf("%v: %s is %s", errSettings, name, value)
		}
	}
	b.Cleanup(func() {
		_, err := s.pool.Exec(background, fmt.Sprintf("DROP SCHEMA IF EXISTS %s, folio_%[1]s CASCADE", own))
		must(b, err)
	})
	for _, statement := range []string{
		"CREATE SCHEMA " + own,
		"CREATE TABLE row (id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, bytes bytea NOT NULL)",
		`CREATE TABLE file (name text COLLATE "C" PRIMARY KEY, mode int NOT NULL, mtime bigint NOT NULL, content bytea NOT NULL)`,
	} {
		_, err := s.pool.Exec(background, statement)
		must(b, err)
	}
	return s
}

// localServer starts a server whose data are on the disk of TMPDIR, and returns the address of its
// database.
func localServer(b *testing.B) string {
	server, err := pgserver.NewIn(dataDir(b), "max_connections=300", "shared_buffers=256MB")
	if errors.Is(err, pgserver.ErrMissing) {
		b.Skip(err)
	}
	must(b, err)
	b.Cleanup(server.Close)
	database, err := url.Parse(server.Address("none"))
	must(b, err)
	values := database.Query()
	values.Del("volume")
	database.RawQuery = values.Encode()
	return database.String()
}

// dataDir returns the directory of TMPDIR, or /tmp if that is on the same disk, and the server,
// which does not run as root, cannot get at TMPDIR.
func dataDir(b *testing.B) string {
	dir := os.TempDir()
	info, err := os.Stat(dir)
	must(b, err)
	if os.Getuid() != 0 {
		return dir
	}
	must(b, os.Chmod(dir, info.Mode()|0o111)) // it is that of the run
	if reachable(dir) {
		return dir
	}
	other, err := os.Stat("/tmp")
	must(b, err)
	if other.Sys().(*syscall.Stat_t).Dev != info.Sys().(*syscall.Stat_t).Dev {
		b.Skipf("the server cannot get at %s: its parents must let other users through", dir)
	}
	return "/tmp"
}

// reachable reports whether all users can get at a directory.
func reachable(dir string) bool {
	info, err := os.Stat(dir)
	if err != nil || info.Mode()&1 == 0 {
		return false
	}
	parent := filepath.Dir(dir)
	return parent == dir || reachable(parent)
}

// with returns an address with one more parameter.
func with(b *testing.B, address, name, value string) string {
	u, err := url.Parse(address)
	must(b, err)
	values := u.Query()
	values.Set(name, value)
	u.RawQuery = strings.ReplaceAll(values.Encode(), "%2F", "/")
	return u.String()
}

// sides opens them all.
func (s *benchServer) sides(b *testing.B) []*serverSide {
	dir := b.TempDir()
	sides := []*serverSide{
		{name: "floor"},
		{name: "folio", place: s.address},
		{name: "sql", place: s.plain},
		{name: "files", place: filepath.Join(dir, "files")},
		{name: "volume", place: filepath.Join(dir, "v.folio")},
	}
	must(b, os.Mkdir(sides[3].place, 0o755))
	command, err := built(b, "folio", "../../../cmd/folio", ".")
	must(b, err)
	for _, side := range sides[1:] {
		side.keeper, err = openKeeper(side.name, side.place, command, floorClients)
		must(b, err)
		b.Cleanup(func() { must(b, side.close()) })
	}
	return sides
}

// openKeeper opens a side in any process. Command is the program that copies trees, and clients is
// how many connections plain SQL uses.
func openKeeper(name, place, command string, clients int) (keeper, error) {
	switch name {
	case "folio":
		return openServerVolume(place, command)
	case "volume":
		return openFileVolume(place, command)
	case "sql":
		return openTable(place, clients)
	}
	return directory(place), nil
}

// vacuum lets the server look at the sizes of the tables.
func (s *benchServer) vacuum(b *testing.B) {
	_, err := s.pool.Exec(background, "VACUUM ANALYZE file")
	must(b, err)
}

// settle lets the server and the system write what others have left to write, so that no side pays
// for it. A server that is not of this run may not let it.
func (s *benchServer) settle(*turn) error {
	_, _ = s.pool.Exec(background, "CHECKPOINT")
	unix.Sync()
	return nil
}

// selectOne is the least that a call on a server takes: a round trip.
func (s *benchServer) selectOne(t *turn) error {
	return s.pool.AcquireFunc(background, func(c *pgxpool.Conn) error {
		return repeat(t.n, func(int) error {
			var one int
			return c.QueryRow(background, "SELECT 1").Scan(&one)
		})
	})
}

const insertBytes = "INSERT INTO row (bytes) VALUES ($1)"

// insert is the least that a durable change takes, by one client.
func (s *benchServer) insert(t *turn) error {
	return s.pool.AcquireFunc(background, func(c *pgxpool.Conn) error {
		return repeat(t.n, func(i int) error {
			_, err := c.Exec(background, insertBytes, content(strconv.Itoa(i), createSize))
			return err
		})
	})
}

// insertMany inserts rows by many clients.
func (s *benchServer) insertMany(t *turn) error {
	return together(floorClients, t.n/floorClients, func(g, i int) error {
		_, err := s.pool.Exec(background, insertBytes, content(fileName(g, i), manySize))
		return err
	})
}

// openPool connects as many clients as there may be.
func openPool(address string, clients int) (*pgxpool.Pool, error) {
	config, err := pgxpool.ParseConfig(address)
	if err != nil {
		return nil, err
	}
	config.MaxConns = int32(clients)
	pool, err := pgxpool.NewWithConfig(background, config)
	if err != nil {
		return nil, err
	}
	for range clients {
		c, err := pool.Acquire(background)
		if err != nil {
			return nil, err
		}
		defer c.Release()
	}
	return pool, nil
}
