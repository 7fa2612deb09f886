//go:build unix

package pgstore_test

import (
	"context"
	"encoding/json"
	"log"
	"os"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/foliofs/folio/internal/must"
	"github.com/foliofs/folio/internal/store"
	"github.com/foliofs/folio/internal/store/pgstore"
	"github.com/foliofs/folio/internal/store/pgstore/pgserver"
	"github.com/foliofs/folio/internal/store/pgstore/s3server"
	"github.com/foliofs/folio/internal/store/storetest"
)

// TestMain makes the binary a client of a history, or a machine, if it was started as one.
func TestMain(m *testing.M) {
	if job := os.Getenv(clientVariable); job != "" {
		var c historyClient
		if err := json.Unmarshal([]byte(job), &c); err != nil {
			log.Fatal(err)
		}
		c.run()
		return
	}
	if socket := os.Getenv(forwarderVariable); socket != "" {
		forward(socket)
	}
	pgserver.Main(m, s3server.Close)
}

// open opens a volume, which is made if need be, and closes it with the test.
func open(t testing.TB, address string, o *pgstore.Options) *pgstore.Store {
	t.Helper()
	if o == nil {
		o = &pgstore.Options{Create: true, MaxConns: 100}
	}
	s, err := pgstore.Open(context.Background(), address, o)
	must.Do(t, err)
	t.Cleanup(func() { _ = s.Close() })
	return s
}

// TestStore runs the conformance suite.
func TestStore(t *testing.T) {
	t.Run("Reading", func(t *testing.T) {
		t.Parallel()
		storetest.Run(t, func(t *testing.T, v *storetest.Volume) store.Store {
			address := pgserver.Volume(t)
			s := open(t, address, nil)
			must.Do(t, v.Build(&builder{t: t, conn: connect(t, address)}))
			return s
		})
	})
	t.Run("Writing", func(t *testing.T) {
		t.Parallel()
		storetest.RunWriting(t, func(t *testing.T) (store.Store, storetest.Opener) {
			address := pgserver.Volume(t)
			again := func(t *testing.T) store.Store { return open(t, address, nil) }
			return again(t), again
		})
	})
}

// connect connects to the database of a volume, with the volume's schema before all others.
func connect(t testing.TB, address string) *pgx.Conn {
	t.Helper()
	c, err := pgx.Connect(context.Background(), pgstore.PlainAddress(address))
	must.Do(t, err)
	t.Cleanup(func() { _ = c.Close(context.Background()) })
	return c
}

// A builder makes the rows of a volume by plain statements.
type builder struct {
	t    testing.TB
	conn *pgx.Conn
}

func (b *builder) exec(sql string, args ...any) error {
	_, err := b.conn.Exec(context.Background(), sql, args...)
	return err
}

func (b *builder) Bytes(ino store.Ino, p []byte) (holes int64, err error) {
	for off := 0; off < len(p); off += store.ChunkSize {
		chunk := p[off:min(len(p), off+store.ChunkSize)]
		hole := len(chunk) == store.ChunkSize
		for _, c := range chunk {
			hole = hole && c == 0
		}
		if hole {
			holes += store.ChunkSize
			continue
		}
		if err := b.exec("INSERT INTO data VALUES ($1, $2)", store.DataID(ino, int64(off)), chunk); err != nil {
			return holes, err
		}
	}
	return holes, nil
}

func (b *builder) Node(n *store.Node) error {
	return b.exec(`INSERT INTO node VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11) ON CONFLICT (ino) DO UPDATE SET
  mode = excluded.mode, nlink = excluded.nlink, uid = excluded.uid, gid = excluded.gid, mtime_ns = excluded.mtime_ns, ctime_ns = excluded.ctime_ns, atime_ns = excluded.atime_ns`,
		int64(n.Ino), n.Mode, n.Nlink, n.UID, n.GID, n.Size, n.Holes, n.Mtime, n.Ctime, n.Atime, int64(n.Rdev))
}

func (b *builder) Entry(dir store.Ino, e store.Entry) error {
	return b.exec("INSERT INTO entry VALUES ($1, $2, $3, $4)", int64(dir), []byte(e.Name), int64(e.Ino), int64(e.Type))
}

func (b *builder) Xattr(ino store.Ino, x store.Xattr) error {
	return b.exec("INSERT INTO xattr VALUES ($1, $2, $3)", int64(ino), []byte(x.Name), x.Value)
}
