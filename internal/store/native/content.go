package native

import (
	"errors"
	"io"
	"io/fs"

	"github.com/foliofs/folio/internal/store"
	"github.com/foliofs/folio/sqlitefile"
)

// ReadAt fills p from the content of n.
func (r rx) ReadAt(n store.Node, p []byte, off int64) (int, error) {
	if off < 0 {
		return 0, fs.ErrInvalid
	}
	if off >= n.Size {
		return 0, io.EOF
	}
	var eof error
	if rest := n.Size - off; int64(len(p)) > rest {
		p, eof = p[:rest], io.EOF
	}
	done := 0
	err := r.tx.Guard(func() error { return r.read(&n, p, off, &done) })
	if err == nil {
		err = eof
	}
	return done, err
}

// read fills p, which lies within the file, chunk by chunk, and keeps count in done.
func (r rx) read(n *store.Node, p []byte, off int64, done *int) error {
	t, err := r.tx.Table("data")
	if err != nil {
		return err
	}
	shown := baseChunks{r: r, ino: n.Ino}
	for *done < len(p) {
		at := off + int64(*done)
		part := p[*done:min(len(p), *done+store.ChunkSize-int(at%store.ChunkSize))]
		got, ok, err := t.ReadAt(store.DataID(n.Ino, at), dataBytes, part, at%store.ChunkSize)
		if err == nil && !ok {
			got, err = shown.read(&t, part, at)
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

// baseChunks reads the chunks of one inode that have no own row.
type baseChunks struct {
	r      rx
	ino    store.Ino
	looked bool
	origin origin
}

// read fills p, which lies within a chunk, from the row of the base that shows through (C1), and
// returns how many bytes that has.
func (b *baseChunks) read(data *sqlitefile.Table, p []byte, off int64) (got int, err error) {
	if !b.looked {
		if b.origin, err = b.r.originOf(b.ino); err != nil {
			return 0, err
		}
		b.looked = true
	}
	if id, ok := b.origin.shares(store.DataID(b.ino, off)); ok {
		got, _, err = data.ReadAt(id, dataBytes, p, off%store.ChunkSize)
	}
	return got, err
}
