package rowstore

import (
	"errors"
	"io"

	"github.com/foliofs/folio/internal/store"
	"github.com/foliofs/folio/sqlitefile"
)

// ReadAt fills p from the content of n.
func (r Rx) ReadAt(n store.Node, p []byte, off int64) (int, error) {
	p, eof := store.Within(&n, p, off)
	if len(p) == 0 {
		return 0, eof
	}
	done := 0
	err := r.Engine.Guard(func() error { return r.ReadContent(&n, p, off, &done) })
	if err == nil {
		err = eof
	}
	return done, err
}

// ReadContent fills p, which lies within the file, chunk by chunk, and keeps count in done.
func (r Rx) ReadContent(n *store.Node, p []byte, off int64, done *int) error {
	t, err := r.Engine.Table("data")
	if err != nil {
		return err
	}
	shown := BaseChunks{Rx: r, Ino: n.Ino}
	for *done < len(p) {
		at := off + int64(*done)
		part := p[*done:min(len(p), *done+store.ChunkSize-int(at%store.ChunkSize))]
		got, ok, err := t.ReadAt(store.DataID(n.Ino, at), DataBytes, part, at%store.ChunkSize)
		if err == nil && !ok {
			got, err = shown.Read(&t, part, at)
		}
		if err != nil && !errors.Is(err, io.EOF) {
			return err
		}
		if got < len(part) && n.Holes == 0 {
			return store.Damaged("inode %d lacks content from byte %d on", n.Ino, at+int64(got))
		}
		clear(part[got:])
		*done += len(part)
	}
	return nil
}

// BaseChunks reads the chunks of one inode that have no own row.
type BaseChunks struct {
	Rx     Rx
	Ino    store.Ino
	looked bool
	origin Origin
}

// Read fills p, which lies within a chunk, from the row of the base that shows through (C1), and
// returns how many bytes that has.
func (b *BaseChunks) Read(data *sqlitefile.Table, p []byte, off int64) (got int, err error) {
	if !b.looked {
		if b.origin, err = b.Rx.OriginOf(b.Ino); err != nil {
			return 0, err
		}
		b.looked = true
	}
	if id, ok := b.origin.Shares(store.DataID(b.Ino, off)); ok {
		got, _, err = data.ReadAt(id, DataBytes, p, off%store.ChunkSize)
	}
	return got, err
}
