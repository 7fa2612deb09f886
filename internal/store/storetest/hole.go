package storetest

import (
	"bytes"
	"fmt"

	"github.com/foliofs/folio/internal/store"
)

// compareHoles goes through data and holes of a file in turn. Holes must be zeros of its content,
// and the data must be as many bytes as the inode says.
func compareHoles(rx store.Rx, n store.Node, content []byte) error {
	data := int64(0)
	for at := int64(0); at < n.Size; {
		start, err := rx.NextData(n, at)
		if err != nil || start < at || start > n.Size {
			return fmt.Errorf("NextData(%d) = %d, %w in %+v", at, start, err, n)
		}
		if !bytes.Equal(content[at:start], make([]byte, start-at)) {
			return fmt.Errorf("from %d to %d is no hole in %+v", at, start, n)
		}
		end, err := rx.NextHole(n, start)
		if err != nil || end > n.Size || end <= start && start < n.Size {
			return fmt.Errorf("NextHole(%d) = %d, %w in %+v", start, end, err, n)
		}
		data += end - start
		at = end
	}
	if data != n.Size-n.Holes {
		return fmt.Errorf("%d bytes of data in %+v", data, n)
	}
	for _, off := range []int64{n.Size, n.Size + 1, store.MaxSize} {
		data, dataErr := rx.NextData(n, off)
		hole, holeErr := rx.NextHole(n, off)
		if data != n.Size || hole != n.Size || dataErr != nil || holeErr != nil {
			return fmt.Errorf("behind the end at %d: data %d, %w, hole %d, %w in %+v", off, data, dataErr, hole, holeErr, n)
		}
	}
	return nil
}

// wrote notes that the rows of a content reach to the end of some bytes. A row begins with its
// chunk.
func (n *modelNode) wrote(off, size int64) {
	for end := off + size; off < end; {
		chunk := off >> store.ChunkShift
		off = min(end, (chunk+1)*store.ChunkSize)
		n.rows[chunk] = max(n.rows[chunk], off-chunk*store.ChunkSize)
	}
}

// cut notes that no row reaches beyond a size.
func (n *modelNode) cut(size int64) {
	for chunk, length := range n.rows {
		if length = min(length, size-chunk*store.ChunkSize); length > 0 {
			n.rows[chunk] = length
		} else {
			delete(n.rows, chunk)
		}
	}
}

// holes returns how many bytes of the content are in no row.
func (n *modelNode) holes() int64 {
	holes := int64(len(n.content))
	for _, length := range n.rows {
		holes -= length
	}
	return holes
}
