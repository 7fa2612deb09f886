package archive

import (
	"encoding/binary"
	"iter"
	"strings"

	"github.com/foliofs/folio/cmd/folio/internal/tree"
)

// A zipField is an extra field of an entry of a zip archive, in which folio export keeps what zip
// itself does not know. Other programs pass over it. Its layout, after the id and the size that
// each extra field begins with:
//
//	6 bytes   "folio" and a version, 1
//	8, 8, 8   Mtime, Atime, Ctime, little-endian
//	string    Link: a uvarint with its length, and its bytes
//	strings   a name and a value for each of Xattrs, up to the end
type zipField struct {
	Mtime, Atime, Ctime int64 // nanoseconds since 1970
	// Link is the first name of a file with several, and empty for that name. The entry has the
	// content all the same.
	Link   string
	Xattrs map[string][]byte
}

// zipFolio is the id of the field. A signature tells it from a field of another program.
const (
	zipFolio      = 0x4f46
	zipFolioMagic = "folio\x01"
)

// maxZipExtra is the most bytes that a zipField may have, so that there is room for other fields.
const maxZipExtra = 1<<16 - 256

// Append adds the field to the extra fields of an entry.
func (f *zipField) Append(extra []byte) []byte {
	p := []byte(zipFolioMagic)
	for _, ns := range []int64{f.Mtime, f.Atime, f.Ctime} {
		p = binary.LittleEndian.AppendUint64(p, uint64(ns))
	}
	p = appendSized(p, f.Link)
	for name, value := range f.Xattrs {
		p = appendSized(appendSized(p, name), string(value))
	}
	extra = binary.LittleEndian.AppendUint16(extra, zipFolio)
	extra = binary.LittleEndian.AppendUint16(extra, uint16(len(p)))
	return append(extra, p...)
}

// Size returns the bytes of the field.
func (f *zipField) Size() int {
	const around = 2 * binary.MaxVarintLen16
	n := len(zipFolioMagic) + 3*8 + around + len(f.Link)
	for name, value := range f.Xattrs {
		n += around + len(name) + len(value)
	}
	return n
}

func appendSized(p []byte, s string) []byte {
	return append(binary.AppendUvarint(p, uint64(len(s))), s...)
}

// zipFields yields the ids and contents of extra fields, as far as they are whole.
func zipFields(extra []byte) iter.Seq2[uint16, []byte] {
	return func(yield func(uint16, []byte) bool) {
		for len(extra) >= 4 {
			id, size := binary.LittleEndian.Uint16(extra), int(binary.LittleEndian.Uint16(extra[2:]))
			if extra = extra[4:]; size > len(extra) || !yield(id, extra[:size]) {
				return
			}
			extra = extra[size:]
		}
	}
}

// readZipField returns the field of Folio in the extra fields of an entry. A field that is damaged
// is none.
func readZipField(extra []byte) (f zipField, ok bool) {
	for id, p := range zipFields(extra) {
		if rest, found := strings.CutPrefix(string(p), zipFolioMagic); id == zipFolio && found {
			return parseZipField(rest)
		}
	}
	return f, false
}

func parseZipField(p string) (f zipField, ok bool) {
	if len(p) < 3*8 {
		return f, false
	}
	for i, ns := range []*int64{&f.Mtime, &f.Atime, &f.Ctime} {
		*ns = int64(binary.LittleEndian.Uint64([]byte(p[8*i:])))
	}
	if f.Link, p, ok = cutSized(p[3*8:]); !ok {
		return f, false
	}
	for p != "" {
		var name, value string
		if name, p, ok = cutSized(p); !ok {
			return f, false
		}
		if value, p, ok = cutSized(p); !ok {
			return f, false
		}
		if !tree.KeepsXattr(name) {
			continue
		}
		if f.Xattrs == nil {
			f.Xattrs = make(map[string][]byte)
		}
		f.Xattrs[name] = []byte(value)
	}
	return f, true
}

// cutSized reads a string that follows its length.
func cutSized(p string) (s, rest string, ok bool) {
	n, used := binary.Uvarint([]byte(p[:min(len(p), binary.MaxVarintLen64)]))
	if used <= 0 || n > uint64(len(p)-used) {
		return "", "", false
	}
	return p[used : used+int(n)], p[used+int(n):], true
}
