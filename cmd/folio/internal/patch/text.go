package patch

import (
	"bytes"
	"crypto/sha1"
	"encoding/hex"
	"fmt"
	"io"
	"io/fs"
	"strings"

	"github.com/rogpeppe/go-internal/diff"

	"github.com/foliofs/folio/cmd/folio/internal/compare"
	"github.com/foliofs/folio/cmd/folio/internal/quote"
)

// maxText is the size in bytes of the largest file whose lines are compared. Both files are in
// memory then.
const maxText = 16 << 20

// binaryHead is how far a file is searched for the NUL that says that it is binary, as git does.
const binaryHead = 8000

// A text is the content of a file as a patch has it. The target of a symbolic link is one, too.
type text struct {
	bytes  []byte // nil if it is binary
	size   int64
	binary bool // not text, or too large
}

// hasText reports whether a patch can hold the content of a file. nil is an empty file.
func hasText(f *compare.File) bool {
	return f == nil || f.Mode.IsRegular() || f.Mode&fs.ModeSymlink != 0
}

// textOf reads a file. If its first bytes show that it is binary, it reads no more. An error is a
// *compare.ReadError.
func textOf(f *compare.File) (text, error) {
	switch {
	case f == nil:
		return text{}, nil
	case f.Mode&fs.ModeSymlink != 0:
		return text{bytes: []byte(f.Linkname), size: int64(len(f.Linkname))}, nil
	}
	r, err := f.Open()
	if err != nil {
		return text{}, &compare.ReadError{File: f, Err: err}
	}
	defer r.Close()
	var content bytes.Buffer
	_, err = content.ReadFrom(io.LimitReader(r, binaryHead))
	binary := f.Size > maxText || bytes.IndexByte(content.Bytes(), 0) >= 0
	if err == nil && !binary {
		content.Grow(int(f.Size) + bytes.MinRead)
		_, err = content.ReadFrom(io.LimitReader(r, maxText))
	}
	switch {
	case err != nil:
		return text{}, &compare.ReadError{File: f, Err: err}
	case binary:
		return text{size: f.Size, binary: true}, nil
	}
	return text{bytes: content.Bytes(), size: f.Size}, nil
}

// textsOf reads both files of a change.
func textsOf(a, b *compare.File) (x, y text, err error) {
	if x, err = textOf(a); err == nil {
		y, err = textOf(b)
	}
	return x, y, err
}

// blob returns the beginning of the name that git gives a content, by which patch(1) knows a change
// of a symbolic link, and the removal of an empty file. It is "" for a binary file, and zeros for
// none.
func (t *text) blob(f *compare.File) string {
	switch {
	case f == nil:
		return "0000000"
	case t.binary:
		return ""
	}
	h := sha1.New()
	fmt.Fprintf(h, "blob %d\x00", len(t.bytes))
	h.Write(t.bytes)
	return hex.EncodeToString(h.Sum(nil))[:7]
}

// hunksOf returns how two texts differ, as the hunks of a unified diff.
func hunksOf(x, y *text) []byte {
	hunks := diff.Diff("", x.bytes, "", y.bytes)
	for range 3 { // lines with names
		_, hunks, _ = bytes.Cut(hunks, []byte{'\n'})
	}
	return hunks
}

// quoteName returns a name as git writes it: between quotes, with escapes of C, if there is
// something special in it, and else as it is. git apply and patch(1) read both.
func quoteName(name string) string {
	if quote.Printable(name) && !strings.ContainsAny(name, `"\`) {
		return name
	}
	var b strings.Builder
	b.WriteByte('"')
	for i := range len(name) {
		switch c := name[i]; {
		case c == '"' || c == '\\':
			b.WriteByte('\\')
			b.WriteByte(c)
		case c == '\n':
			b.WriteString(`\n`)
		case c == '\t':
			b.WriteString(`\t`)
		case c < ' ' || c >= 0x7f:
			fmt.Fprintf(&b, `\%03o`, c)
		default:
			b.WriteByte(c)
		}
	}
	b.WriteByte('"')
	return b.String()
}

// headName returns a name for a line that begins with --- or +++. A tab ends a name with a space in
// it, for patch(1).
func headName(name string) string {
	if strings.Contains(name, " ") {
		return quoteName(name) + "\t"
	}
	return quoteName(name)
}
