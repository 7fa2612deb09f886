package pgstore

import (
	"context"
	"encoding/binary"
	"io"

	"github.com/jackc/pgx/v5"

	"github.com/foliofs/folio/internal/store"
)

// A bulk is the data rows that a large transaction sends by COPY, which costs the server a third
// less than to set rows that may be there.
type bulk struct {
	ids  []int64
	rows [][]byte
}

// longFile is from how many chunks on a transaction remembers how far it has written a new file.
const longFile = 16

// takeNew takes the changed data rows that the server cannot have yet.
func (t *tx) takeNew() *bulk {
	b := new(bulk)
	for id := range t.parts { // they are rows, too
		ino := store.Ino(id >> store.ChunkBits)
		if last, long := t.grown[ino]; long || t.nodes[ino] == nodeNew {
			t.growTo(ino, max(last, id))
		}
	}
	for _, id := range sortedKeys(t.chunks) {
		ino := store.Ino(id >> store.ChunkBits)
		last, long := t.grown[ino]
		isNew := !t.isCut(id) && (t.nodes[ino] == nodeNew || long && id > last)
		if isNew {
			b.ids, b.rows = append(b.ids, id), append(b.rows, t.chunks[id])
			delete(t.chunks, id)
		}
		if long || isNew && id&(1<<store.ChunkBits-1) >= longFile {
			t.growTo(ino, max(t.grown[ino], id))
		}
	}
	return b
}

// growTo notes the last data row of a new file that was sent.
func (t *tx) growTo(ino store.Ino, id int64) {
	if t.grown == nil {
		t.grown = make(map[store.Ino]int64)
	}
	t.grown[ino] = id
}

// send copies the rows to the server.
func (b *bulk) send(ctx context.Context, c *pgx.Conn, schema schemaName) error {
	_, err := c.PgConn().CopyFrom(ctx, newRowReader(b), schema.in("COPY @data (id, bytes) FROM STDIN BINARY"))
	return err
}

// A rowReader gives rows in the binary form of COPY. The methods of pgx that do so would copy the
// contents once more, and ask for the types of the columns each time.
type rowReader struct {
	rows *bulk
	next int      // the row whose head comes when what is left below was read
	head []byte   // what is left of the head of a row, or of the whole
	row  []byte   // what is left of the content that follows it
	buf  [18]byte // for heads of rows
}

func newRowReader(b *bulk) *rowReader {
	const flags, extension = "\x00\x00\x00\x00", "\x00\x00\x00\x00"
	return &rowReader{rows: b, head: []byte("PGCOPY\n\xff\r\n\x00" + flags + extension)}
}

// Read implements io.Reader.
func (r *rowReader) Read(p []byte) (n int, err error) {
	for n < len(p) {
		if len(r.head)+len(r.row) == 0 && !r.advance() {
			return n, io.EOF
		}
		k := copy(p[n:], r.head)
		r.head, n = r.head[k:], n+k
		k = copy(p[n:], r.row)
		r.row, n = r.row[k:], n+k
	}
	return n, nil
}

// advance goes to the next row, or to the end of all, which is a row of -1 columns. It reports
// false behind that.
func (r *rowReader) advance() bool {
	i := r.next
	r.next++
	switch {
	case i < len(r.rows.ids):
		r.row = r.rows.rows[i]
		head := binary.BigEndian.AppendUint16(r.buf[:0], 2)
		head = binary.BigEndian.AppendUint32(head, 8)
		head = binary.BigEndian.AppendUint64(head, uint64(r.rows.ids[i]))
		r.head = binary.BigEndian.AppendUint32(head, uint32(len(r.row)))
	case i == len(r.rows.ids):
		r.head = []byte{0xff, 0xff}
	default:
		return false
	}
	return true
}
