package patch

import (
	"bufio"
	"bytes"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/foliofs/folio/cmd/folio/internal/compare"
)

// A Stat collects how many lines of each file changed, and writes that as git diff --stat does. It
// keeps a row for each file that changed.
type Stat struct {
	Color bool
	rows  []row
}

// A row is one file.
type row struct {
	name           string
	added, removed int64 // lines; of a binary file bytes, the new ones and the old ones
	binary         bool
}

// Add counts a change. Directories, devices, fifos and sockets do not count. An error is a
// *compare.ReadError.
func (s *Stat) Add(c *compare.Change) error {
	a, b := c.Old, c.New
	if !hasText(a) {
		a = nil
	}
	if !hasText(b) {
		b = nil
	}
	if a == nil && b == nil {
		return nil
	}
	r := row{name: statName(c)}
	if err := r.read(c.Kind, a, b); err != nil {
		return err
	}
	s.rows = append(s.rows, r)
	return nil
}

func (r *row) read(kind compare.Kind, a, b *compare.File) error {
	if kind&^(compare.Moved|compare.Described) == 0 {
		t, err := textOf(b, true)
		r.binary = t.binary
		return err
	}
	x, y, err := textsOf(a, b)
	if err == nil {
		r.count(&x, &y)
	}
	return err
}

func statName(c *compare.Change) string {
	oldPath, newPath := pathsOf(c)
	if oldPath != newPath {
		return quoteName(oldPath) + " => " + quoteName(newPath)
	}
	return quoteName(newPath)
}

// count counts the lines that differ.
func (r *row) count(x, y *text) {
	switch {
	case x.binary || y.binary:
		r.binary, r.added, r.removed = true, y.size, x.size
	case len(x.bytes) == 0 || len(y.bytes) == 0:
		r.added, r.removed = int64(y.lines()), int64(x.lines())
	default:
		for line := range bytes.Lines(hunksOf(x, y)) {
			switch line[0] {
			case '+':
				r.added++
			case '-':
				r.removed++
			}
		}
	}
}

// statWidth is how many columns a line has at most, unless the sizes of a binary file need more.
const statWidth = 80

// A layout is the columns of a table: " NAME | NUMBER GRAPH".
type layout struct {
	name, number, graph int
	most                int64 // lines of the file that changed most
}

// layout gives the names 5/8 of the width, and the rest 3/8, if not both have the room that they
// want.
func (s *Stat) layout() layout {
	var l layout
	binary := 0
	for i := range s.rows {
		r := &s.rows[i]
		l.name = max(l.name, utf8.RuneCountInString(r.name))
		if r.binary {
			binary = max(binary, len("Bin  ->  bytes")+digits(r.added)+digits(r.removed))
			l.number = len("Bin")
		} else {
			l.most = max(l.most, r.added+r.removed)
		}
	}
	l.number = max(l.number, digits(l.most))
	l.graph = max(int(min(l.most, statWidth)), binary-len("Bin "))
	const around = len("  |   ")
	if l.name+l.number+around+l.graph <= statWidth {
		return l
	}
	l.graph = min(l.graph, max(6, statWidth*3/8-l.number-around))
	if room := statWidth - l.number - around; l.name > room-l.graph {
		l.name = room - l.graph
	} else {
		l.graph = room - l.name
	}
	return l
}

func digits(n int64) int { return len(fmt.Sprint(n)) }

// Write writes the table. The errors of out stay in it.
func (s *Stat) Write(out *bufio.Writer) {
	if len(s.rows) == 0 {
		return
	}
	l := s.layout()
	var added, removed int64
	for i := range s.rows {
		r := &s.rows[i]
		fmt.Fprintf(out, " %s |", l.fit(r.name))
		if r.binary {
			fmt.Fprintf(out, " %*s%s\n", l.number, "Bin", r.sizes())
			continue
		}
		added, removed = added+r.added, removed+r.removed
		fmt.Fprintf(out, " %*d%s\n", l.number, r.added+r.removed, s.graph(&l, r))
	}
	out.WriteString(summary(len(s.rows), added, removed))
}

// fit fills a name up, or cuts its beginning off, at a slash if there is one.
func (l *layout) fit(name string) string {
	n := utf8.RuneCountInString(name)
	if n > l.name {
		runes := []rune(name)
		name = string(runes[n-max(0, l.name-3):])
		if i := strings.IndexByte(name, '/'); i >= 0 {
			name = name[i:]
		}
		name = "..." + name
		n = utf8.RuneCountInString(name)
	}
	return name + strings.Repeat(" ", max(0, l.name-n))
}

// sizes tells the sizes of a binary file, unless it is only that its mode has changed.
func (r *row) sizes() string {
	if r.added == 0 && r.removed == 0 {
		return ""
	}
	return fmt.Sprintf(" %d -> %d bytes", r.removed, r.added)
}

// graph draws the lines that were added and removed.
func (s *Stat) graph(l *layout, r *row) string {
	add, remove := int(min(r.added, statWidth)), int(min(r.removed, statWidth))
	if int64(l.graph) <= l.most {
		all := l.scale(r.added + r.removed)
		if all < 2 && r.added > 0 && r.removed > 0 {
			all = 2
		}
		if r.added < r.removed {
			add = l.scale(r.added)
			remove = all - add
		} else {
			remove = l.scale(r.removed)
			add = all - remove
		}
	}
	if add+remove == 0 {
		return ""
	}
	return " " + s.paint(green, "+", add) + s.paint(red, "-", remove)
}

// scale returns the columns for a number of lines, at least one for one.
func (l *layout) scale(n int64) int {
	if n == 0 {
		return 0
	}
	return 1 + int(n*int64(l.graph-1)/l.most)
}

func (s *Stat) paint(color, sign string, n int) string {
	if n == 0 || !s.Color {
		return strings.Repeat(sign, n)
	}
	return color + strings.Repeat(sign, n) + reset
}

func summary(files int, added, removed int64) string {
	text := " " + counted(int64(files), "file", "files") + " changed"
	if added > 0 || removed == 0 {
		text += ", " + counted(added, "insertion(+)", "insertions(+)")
	}
	if removed > 0 || added == 0 {
		text += ", " + counted(removed, "deletion(-)", "deletions(-)")
	}
	return text + "\n"
}

func counted(n int64, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprint(n, " ", many)
}
