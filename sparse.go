package folio

import (
	"bytes"
	"io"

	"github.com/foliofs/folio/internal/store"
)

// A SparseReader is a content that knows where its holes are, for [Builder.Add], [Tx.Add] and
// WriteFrom. They call SkipHole instead of reading zeros: a file on disk of some GiB, most of them
// holes, takes no time then.
type SparseReader interface {
	io.Reader
	// SkipHole passes over the zeros that come next, as many whole units of unit bytes as there
	// are. It returns how many bytes that were, 0 if data come next. Read returns the zeros that
	// SkipHole leaves.
	SkipHole(unit int64) (int64, error)
}

// writeSparse writes p at off, but leaves out chunks of zeros.
func (c *change) writeSparse(n *store.Node, p []byte, off int64) error {
	for len(p) > 0 {
		run := 0
		for run < len(p) && !isHole(off+int64(run), p[run:]) {
			run += min(store.ChunkSize-int((off+int64(run))%store.ChunkSize), len(p)-run)
		}
		if run > 0 {
			if err := c.Tx.WriteAt(n, p[:run], off); err != nil {
				return err
			}
		} else {
			run = store.ChunkSize
		}
		p, off = p[run:], off+int64(run)
	}
	return nil
}

// isHole reports whether p begins with a whole chunk of zeros.
func isHole(off int64, p []byte) bool {
	return off%store.ChunkSize == 0 && len(p) >= store.ChunkSize && p[0] == 0 && bytes.Equal(p[:store.ChunkSize], zeroChunk[:])
}

var zeroChunk [store.ChunkSize]byte
