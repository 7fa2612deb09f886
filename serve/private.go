package serve

import (
	"crypto/rand"
	"encoding/hex"
	"fmt"
	"path"
	"time"
)

// private is the name of the directories that no request reaches.
const private = ".folio-serve"

// Directories below the private one.
const (
	trashDir  = "trash"
	uploadDir = "uploads"
	shareDir  = "shares"
)

// own returns a path of the server's own in the volume.
func (t *tree) own(elements ...string) string {
	return path.Join(t.Dir, private, path.Join(elements...))
}

// newID returns a name that cannot be guessed. Names sort by time.
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
