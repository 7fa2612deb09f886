package overlay

import (
	"bytes"
	"fmt"
	"io/fs"
	"strconv"
	"strings"
	"time"

	"github.com/foliofs/folio/internal/store"
)

// Names of extended attributes in the upper store.
const (
	private      = "trusted.overlay."         // attributes of the overlay begin so
	escaped      = "trusted.overlay.overlay." // the escaped form of a program's own names with that prefix
	attrRedirect = "trusted.overlay.redirect" // of a directory: its path in the base, after a slash
	attrOpaque   = "trusted.overlay.opaque"   // of a directory: the one of the base is not seen
	attrRecord   = "trusted.overlay.folio"    // of a copied file: its Record
	// attrReplaced holds the records of files that are hidden by a file that was made, or moved:
	// one for each of its names.
	attrReplaced = "trusted.overlay.folio.replaced"
)

// maxReplaced is how many records attrReplaced has at most, so that the value is not too long.
// The oldest are dropped.
const maxReplaced = 16

// A Record identifies a file of the base at the time when the overlay began to hide it, or copied
// it up.
type Record struct {
	Path         string // in the base
	Mode         uint32 // POSIX st_mode
	Size         int64
	Mtime, Ctime int64 // nanoseconds since 1970; Ctime is 0 if the base does not tell it
	Taken        int64 // when the record was made, also in nanoseconds since 1970
	// Limit is the end of the content that may be read from the base. It is Size at first, and
	// becomes smaller when the file is cut off.
	Limit int64
}

// validPath reports whether a file of a base can have the path.
func validPath(name string) bool { return fs.ValidPath(name) && len(name) <= store.MaxPath }

// recordOf returns the record of a file as the base has it now.
func recordOf(path string, n *store.Node) *Record {
	r := &Record{Path: path, Mode: n.Mode, Mtime: n.Mtime, Ctime: n.Ctime, Taken: time.Now().UnixNano()}
	if n.IsRegular() {
		r.Size, r.Limit = n.Size, n.Size
	}
	return r
}

// recordVersion is the first word of each record.
const recordVersion = "1"

// recordFields is how many words a record has. The path is the last one, and may have spaces.
const recordFields = 8

// encode returns the value of the attribute.
func (r *Record) encode() []byte {
	return fmt.Appendf(nil, "%s %o %d %d %d %d %d %s", recordVersion, r.Mode, r.Size, r.Mtime, r.Ctime, r.Limit, r.Taken, r.Path)
}

// decodeRecord is the inverse of encode.
func decodeRecord(value []byte) (*Record, error) {
	words := strings.SplitN(string(value), " ", recordFields)
	if len(words) != recordFields || words[0] != recordVersion {
		return nil, store.Damaged("a record of the overlay is not readable: %.60q", value)
	}
	mode, err := strconv.ParseUint(words[1], 8, 32)
	numbers := [5]int64{}
	for i := range numbers {
		if err == nil {
			numbers[i], err = strconv.ParseInt(words[2+i], 10, 64)
		}
	}
	r := &Record{
		Path: words[7], Mode: uint32(mode), Size: numbers[0], Mtime: numbers[1], Ctime: numbers[2], Limit: numbers[3], Taken: numbers[4],
	}
	if err != nil || !validPath(r.Path) || r.Limit < 0 || r.Limit > r.Size || r.Size > store.MaxSize {
		return nil, store.Damaged("a record of the overlay makes no sense: %.60q", value)
	}
	return r, nil
}

// findRecord returns a record among the attributes of an inode, nil if there is none.
func findRecord(list []store.Xattr, name string) (*Record, error) {
	for _, x := range list {
		if x.Name == name {
			return decodeRecord(x.Value)
		}
	}
	return nil, nil
}

// encodeAll returns the value of attrReplaced.
func encodeAll(list []*Record) []byte {
	var value []byte
	for i, r := range list {
		if i > 0 {
			value = append(value, 0)
		}
		value = append(value, r.encode()...)
	}
	if len(value) > store.MaxXattrValue && len(list) > 1 {
		return encodeAll(list[1:])
	}
	return value
}

// replacedRecords returns the records of attrReplaced.
func replacedRecords(list []store.Xattr) (all []*Record, err error) {
	for _, x := range list {
		if x.Name != attrReplaced {
			continue
		}
		for value := range bytes.SplitSeq(x.Value, []byte{0}) {
			r, err := decodeRecord(value)
			if err != nil {
				return nil, err
			}
			all = append(all, r)
		}
	}
	return all, nil
}

// recordAbout returns the record among the attributes of an inode that is about a path of the base,
// nil if there is none.
func recordAbout(list []store.Xattr, name string) (*Record, error) {
	own, err := findRecord(list, attrRecord)
	if err != nil || own != nil && own.Path == name {
		return own, err
	}
	all, err := replacedRecords(list)
	for _, r := range all {
		if r.Path == name {
			return r, nil
		}
	}
	return nil, err
}

// escape returns the name in the upper store of an attribute of a program.
func escape(name string) string {
	if rest, ok := strings.CutPrefix(name, private); ok {
		return escaped + rest
	}
	return name
}

// visible returns the attributes of programs, by their own names. It changes list.
func visible(list []store.Xattr) []store.Xattr {
	kept := list[:0]
	for _, x := range list {
		if rest, ok := strings.CutPrefix(x.Name, escaped); ok {
			x.Name = private + rest
		} else if strings.HasPrefix(x.Name, private) {
			continue
		}
		kept = append(kept, x)
	}
	return kept
}

// isWhiteout reports whether an inode hides a name of the base.
func isWhiteout(n *store.Node) bool { return n.Mode == store.ModeChar && n.Rdev == 0 }
