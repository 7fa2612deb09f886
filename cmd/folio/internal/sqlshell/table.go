package sqlshell

import (
	"io"
	"strings"
	"unicode/utf8"

	"github.com/foliofs/folio/cmd/folio/internal/quote"
	"github.com/foliofs/folio/sqlite"
	"github.com/foliofs/folio/sqlitefile"
)

// A table writes rows in columns below their names. The first rows decide how wide the columns are,
// so that a table of any length needs little memory. A wider value moves the ones behind it.
type table struct {
	w      io.Writer
	names  []string
	rows   [][]cell // until widths are known
	size   int      // of their texts, in bytes
	widths []int
}

// The widths are those of the first rows: of mostMeasured at most, and of no more than have
// mostKept bytes. No column is made wider than widestCell.
const (
	mostMeasured = 1000
	mostKept     = 1 << 20
	widestCell   = 60
)

// A cell is one value, with numbers to the right.
type cell struct {
	text  string
	right bool
}

func (t *table) row(row *sqlite.Row) error {
	line := make([]cell, row.Len())
	for i, text := range texts(row, "NULL") {
		kind := row.Kind(i)
		line[i] = cell{quote.Escape(text), kind == sqlitefile.KindInteger || kind == sqlitefile.KindFloat}
		t.size += len(text)
	}
	if t.widths != nil {
		return t.write(line)
	}
	if t.rows = append(t.rows, line); len(t.rows) < mostMeasured && t.size < mostKept {
		return nil
	}
	return t.flush()
}

// end writes the rows that are left. A query without a row has no table.
func (t *table) end() error {
	if t.widths != nil || len(t.rows) == 0 {
		return nil
	}
	return t.flush()
}

// flush writes the head and the rows that are kept.
func (t *table) flush() error {
	head, rule := make([]cell, len(t.names)), make([]cell, len(t.names))
	t.widths = make([]int, len(t.names))
	for i, name := range t.names {
		head[i].text = name
		for _, row := range append(t.rows, head) {
			t.widths[i] = max(t.widths[i], min(utf8.RuneCountInString(row[i].text), widestCell))
		}
		rule[i].text = strings.Repeat("-", t.widths[i])
	}
	for _, row := range append([][]cell{head, rule}, t.rows...) {
		if err := t.write(row); err != nil {
			return err
		}
	}
	t.rows = nil
	return nil
}

func (t *table) write(row []cell) error {
	var b strings.Builder
	for i, c := range row {
		blanks := strings.Repeat(" ", max(t.widths[i]-utf8.RuneCountInString(c.text), 0))
		switch {
		case c.right:
			b.WriteString(blanks + c.text)
		case i == len(row)-1:
			b.WriteString(c.text)
		default:
			b.WriteString(c.text + blanks)
		}
		if i < len(row)-1 {
			b.WriteString("  ")
		}
	}
	_, err := io.WriteString(t.w, b.String()+"\n")
	return err
}
