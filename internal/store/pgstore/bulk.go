package pgstore

import (
	"context"
	"encoding/binary"
	"io"

	"github.com/jackc/pgx/v5"
)

// A bulk is the data rows that a large transaction sends by COPY, which costs the server a third
// less than to set rows that may be there.
type bulk struct {
	ids  []int64
	rows [][]byte
}

// longFile is from how many chunks on a transaction remembers how far it has written a new file.
const longFile = 16

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
