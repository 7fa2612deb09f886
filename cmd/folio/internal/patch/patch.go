// Package patch writes the changes between two trees as git does: as a patch, which git apply and
// patch(1) take.
package patch

import (
	"bufio"
	"bytes"
	"fmt"
	"io/fs"
	"strings"

	"github.com/foliofs/folio/cmd/folio/internal/compare"
)

// A Writer writes a patch.
type Writer struct {
	Out   *bufio.Writer
	Color bool
}

// Escape sequences of the colours that git uses.
const (
	bold  = "\x1b[1m"
	cyan  = "\x1b[36m"
	red   = "\x1b[31m"
	green = "\x1b[32m"
	reset = "\x1b[m"
)

// Write writes a change. A change that no patch can express becomes a comment: of directories,
// devices, owners, times and extended attributes. The error of a file that cannot be read is a
// *compare.ReadError; nothing is written then. The errors of Out stay in it.
func (w *Writer) Write(c *compare.Change) error {
	if !hasText(c.Old) || !hasText(c.New) {
		return w.special(c)
	}
	if c.Kind&compare.Retyped != 0 { // a file and a symbolic link
		return w.replace(c)
	}
	oldMode, newMode := modeOf(c.Old), modeOf(c.New)
	moved := c.Kind&compare.Moved != 0
	if !moved && oldMode == newMode && c.Kind&compare.Modified == 0 {
		return w.comment(c)
	}
	var x, y text
	if changes := c.Kind & (compare.Added | compare.Removed | compare.Modified); changes != 0 {
		var err error
		if x, y, err = textsOf(c.Old, c.New); err != nil {
			return err
		}
	}
	oldPath, newPath := pathsOf(c)
	w.head("diff --git %s %s", quoteName("a/"+oldPath), quoteName("b/"+newPath))
	w.modes(oldMode, newMode)
	if moved {
		w.head("rename from %s", quoteName(oldPath))
		w.head("rename to %s", quoteName(newPath))
	}
	w.index(c, &x, &y)
	w.content(c, &x, &y)
	return nil
}

// index writes the names that git gives the contents, and the mode if that stays.
func (w *Writer) index(c *compare.Change, x, y *text) {
	a, b := x.blob(c.Old), y.blob(c.New)
	mode := ""
	if oldMode := modeOf(c.Old); oldMode == modeOf(c.New) {
		mode = fmt.Sprintf(" %o", oldMode)
	}
	if a != "" && b != "" && a != b {
		w.head("index %s..%s%s", a, b, mode)
	}
}

// replace writes a file that takes the place of another type of file.
func (w *Writer) replace(c *compare.Change) error {
	if err := w.Write(&compare.Change{Kind: compare.Removed, Path: c.Path, Old: c.Old}); err != nil {
		return err
	}
	return w.Write(&compare.Change{Kind: compare.Added, Path: c.Path, New: c.New})
}

// special writes a change if a patch cannot hold the type of one side, for example a directory that
// became a file. The other side is added or removed.
func (w *Writer) special(c *compare.Change) error {
	if err := w.comment(c); err != nil || c.Kind&compare.Retyped == 0 {
		return err
	}
	if hasText(c.New) {
		return w.Write(&compare.Change{Kind: compare.Added, Path: c.Path, New: c.New})
	}
	if hasText(c.Old) {
		return w.Write(&compare.Change{Kind: compare.Removed, Path: c.Path, Old: c.Old})
	}
	return nil
}

// comment writes a change that a patch cannot hold as a line that git apply and patch(1) pass over:
// "#", the letters of the change, a tab and the name.
func (w *Writer) comment(c *compare.Change) error {
	if c.WithDir && c.Kind == compare.Moved {
		return nil
	}
	slash := ""
	if c.Old.IsDir() || c.New.IsDir() {
		slash = "/"
	}
	oldPath, newPath := pathsOf(c)
	name := quoteName(newPath + slash)
	if oldPath != newPath {
		name = quoteName(oldPath+slash) + "\t" + name
	}
	fmt.Fprintf(w.Out, "# %s\t%s\n", c.Kind.Letters(), name)
	return nil
}

// pathsOf returns the path of a change in both trees. If a tree lacks the file, the
// other tree's path is used.
func pathsOf(c *compare.Change) (oldPath, newPath string) {
	oldPath, newPath = c.Path, c.Path
	if c.Kind&compare.Moved != 0 {
		oldPath = c.Old.Name
	}
	return oldPath, newPath
}

// modeOf returns the mode of a file as git knows it, 0 for no file.
func modeOf(f *compare.File) int {
	switch {
	case f == nil:
		return 0
	case f.Mode&fs.ModeSymlink != 0:
		return 0o120000
	case f.Mode&0o100 != 0:
		return 0o100755
	}
	return 0o100644
}

// modes writes the lines for a mode that one side lacks, or that differs.
func (w *Writer) modes(oldMode, newMode int) {
	switch {
	case oldMode == newMode:
	case oldMode == 0:
		w.head("new file mode %o", newMode)
	case newMode == 0:
		w.head("deleted file mode %o", oldMode)
	default:
		w.head("old mode %o", oldMode)
		w.head("new mode %o", newMode)
	}
}

// content writes how two texts differ.
func (w *Writer) content(c *compare.Change, x, y *text) {
	a, b := "/dev/null", "/dev/null"
	oldPath, newPath := pathsOf(c)
	if c.Old != nil {
		a = headName("a/" + oldPath)
	}
	if c.New != nil {
		b = headName("b/" + newPath)
	}
	if x.binary || y.binary {
		fmt.Fprintf(w.Out, "Binary files %s and %s differ\n", strings.TrimSuffix(a, "\t"), strings.TrimSuffix(b, "\t"))
		return
	}
	hunks := hunksOf(x, y)
	if len(hunks) == 0 {
		return
	}
	w.head("--- %s", a)
	w.head("+++ %s", b)
	for line := range bytes.Lines(hunks) {
		if line[0] == '@' {
			line = bytes.ReplaceAll(line, []byte(",1 "), []byte(" ")) // as git has it
		}
		w.line(hunkColors[line[0]], bytes.TrimSuffix(line, []byte{'\n'}))
	}
}

// hunkColors are for the lines of a hunk, by their first byte.
var hunkColors = map[byte]string{'@': cyan, '-': red, '+': green}

func (w *Writer) head(format string, args ...any) { w.line(bold, fmt.Appendf(nil, format, args...)) }

func (w *Writer) line(color string, line []byte) {
	if !w.Color || color == "" {
		w.Out.Write(line)
	} else {
		w.Out.WriteString(color)
		w.Out.Write(line)
		w.Out.WriteString(reset)
	}
	w.Out.WriteByte('\n')
}
