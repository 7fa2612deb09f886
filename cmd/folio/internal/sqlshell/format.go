package sqlshell

import (
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/foliofs/folio/cmd/folio/internal/quote"
	"github.com/foliofs/folio/cmd/folio/internal/value"
	"github.com/foliofs/folio/sqlite"
	"github.com/foliofs/folio/sqlitefile"
)

// A Format is a form in which rows are written.
type Format string

// Formats are all of them.
var Formats = []string{"table", "csv", "json", "line", "markdown"}

// Set makes *Format a flag's value.
func (f *Format) Set(name string) error {
	if !slices.Contains(Formats, name) {
		return errors.New("the formats are " + strings.Join(Formats, ", "))
	}
	*f = Format(name)
	return nil
}

// A writer writes the rows of one query.
type writer interface {
	row(row *sqlite.Row) error
	end() error
}

// writer returns a writer for rows with these columns.
func (f Format) writer(s *Shell, names []string) writer {
	line := rowWriter{w: s.Stdout}
	switch f {
	case "csv":
		line.format = func(row *sqlite.Row) string { return s.shown(csvLine(row)) }
		line.head = s.shown(csvNames(names))
	case "json":
		line.format = func(row *sqlite.Row) string { return jsonLine(names, row) }
	case "line":
		return &lineWriter{w: s.Stdout, names: names, width: widest(names)}
	case "markdown":
		line.head = "| " + strings.Join(cells(names, markdownCell), " | ") + " |\n|" + strings.Repeat("---|", len(names)) + "\n"
		line.format = func(row *sqlite.Row) string {
			return "| " + strings.Join(cells(texts(row, "NULL"), markdownCell), " | ") + " |\n"
		}
	default:
		return &table{w: s.Stdout, names: cells(names, quote.Escape)}
	}
	return &line
}

// texts returns the columns of a row as texts.
func texts(row *sqlite.Row, null string) []string {
	list := make([]string, row.Len())
	for i := range list {
		if list[i] = row.Text(i); row.Kind(i) == sqlitefile.KindNull {
			list[i] = null
		}
	}
	return list
}

func cells(list []string, fn func(string) string) []string {
	out := make([]string, len(list))
	for i, s := range list {
		out[i] = fn(s)
	}
	return out
}

func markdownCell(s string) string { return strings.ReplaceAll(quote.Escape(s), "|", `\|`) }

func widest(names []string) (width int) {
	for _, n := range names {
		width = max(width, utf8.RuneCountInString(n))
	}
	return width
}

// A rowWriter writes each row by itself, behind a head.
type rowWriter struct {
	w      io.Writer
	head   string
	format func(row *sqlite.Row) string
}

func (r *rowWriter) row(row *sqlite.Row) error {
	_, err := io.WriteString(r.w, r.head+r.format(row))
	r.head = ""
	return err
}

func (r *rowWriter) end() error {
	_, err := io.WriteString(r.w, r.head)
	return err
}

// csvNames is the line of CSV with the names of the columns.
func csvNames(names []string) string {
	return strings.Join(cells(names, csvField), ",") + "\n"
}

// csvLine is a row as CSV. NULL is nothing, and the empty text is "".
func csvLine(row *sqlite.Row) string {
	fields := make([]string, row.Len())
	for i := range fields {
		if row.Kind(i) != sqlitefile.KindNull {
			fields[i] = csvField(row.Text(i))
		}
	}
	return strings.Join(fields, ",") + "\n"
}

func csvField(s string) string {
	if s != "" && !strings.ContainsAny(s, "\",\r\n") && s[0] != ' ' && s[len(s)-1] != ' ' {
		return s
	}
	return `"` + strings.ReplaceAll(s, `"`, `""`) + `"`
}

// jsonLine is a row as an object of JSON. A number that JSON has not is one too large for it, as
// the shell of SQLite writes it.
func jsonLine(names []string, row *sqlite.Row) string {
	var b strings.Builder
	for i := range row.Len() {
		b.WriteString([]string{"{", ","}[min(i, 1)] + jsonText(names[i]) + ":")
		switch row.Kind(i) {
		case sqlitefile.KindNull:
			b.WriteString("null")
		case sqlitefile.KindInteger:
			b.WriteString(row.Text(i))
		case sqlitefile.KindFloat:
			text := row.Text(i)
			if f := row.Float64(i); math.IsInf(f, 0) {
				text = fmt.Sprintf("%.0g", math.Copysign(1, f)) + "e999"
			}
			b.WriteString(text)
		default:
			b.WriteString(jsonText(row.Text(i)))
		}
	}
	return b.String() + "}\n"
}

func jsonText(s string) string {
	var b strings.Builder
	if err := value.WriteJSON(&b, value.JSONText(s)); err != nil {
		return "null"
	}
	return strings.TrimSuffix(b.String(), "\n")
}

// A lineWriter writes each value on a line with its name.
type lineWriter struct {
	w     io.Writer
	names []string
	width int
	begun bool
}

func (l *lineWriter) row(row *sqlite.Row) error {
	var b strings.Builder
	if l.begun {
		b.WriteByte('\n')
	}
	l.begun = true
	for i, text := range texts(row, "NULL") {
		fmt.Fprintf(&b, "%*s = %s\n", l.width, quote.Escape(l.names[i]), quote.Escape(text))
	}
	_, err := io.WriteString(l.w, b.String())
	return err
}

func (l *lineWriter) end() error { return nil }
