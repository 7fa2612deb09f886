package serve

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"fmt"
	"path"
	"time"

	"github.com/foliofs/folio"
	"github.com/foliofs/folio/internal/posix"
)

// Directories below the private one.
const (
	trashDir  = "trash"
	uploadDir = "uploads"
	shareDir  = "shares"
)

const writeOnly = posix.WriteOnly

// own returns a path of the server's own in the volume.
func (t *tree) own(elements ...string) string {
	return path.Join(t.Dir, private, path.Join(elements...))
}

// newID returns a name that nobody can guess. Names sort by time.
func newID() string {
	var b [8]byte
	_, _ = rand.Read(b[:]) // it never fails
	return fmt.Sprintf("%016x-%s", time.Now().UnixNano(), hex.EncodeToString(b[:]))
}

// idTime returns when an ID was made.
func idTime(id string) (time.Time, bool) {
	var nanos int64
	if len(id) != 33 || id[16] != '-' {
		return time.Time{}, false
	}
	if _, err := fmt.Sscanf(id[:16], "%016x", &nanos); err != nil {
		return time.Time{}, false
	}
	_, err := hex.DecodeString(id[17:])
	return time.Unix(0, nanos), err == nil
}

// newTemporary makes an empty file for an upload, which no request reaches.
func (p *place) newTemporary() (name string, err error) {
	name = p.tree.own(uploadDir, newID())
	err = p.vol.Update(context.Background(), func(tx *folio.Tx) error {
		if err := tx.MkdirAll(p.tree.own(uploadDir), 0o700); err != nil {
			return err
		}
		f, err := tx.OpenFile(name, posix.WriteOnly|posix.Create|posix.Exclusive, 0o600)
		if err != nil {
			return err
		}
		return f.Close()
	})
	return name, err
}

// discard removes a temporary file, if there is one. What it leaves, sweep removes.
func (p *place) discard(temp string) {
	if temp != "" {
		_ = p.vol.Remove(temp)
	}
}
