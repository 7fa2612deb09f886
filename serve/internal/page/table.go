package page

import (
	"bytes"
	"encoding/csv"
	"io"
	"strings"
)

// Limits of a table that a page shows.
const (
	maxRows    = 2000
	maxColumns = 200
)

// readTable reads comma-separated values, or values with another sign between them that the first
// line has most of. It returns nil for a text that is none.
func readTable(ext string, content []byte) (rows [][]string, more bool) {
	content = bytes.TrimPrefix(content, []byte("\xef\xbb\xbf"))
	r := csv.NewReader(strings.NewReader(string(bytes.ToValidUTF8(content, []byte("\uFFFD")))))
	r.LazyQuotes, r.FieldsPerRecord, r.Comma = true, -1, separator(ext, content)
	for {
		row, err := r.Read()
		switch {
		case err == io.EOF && len(rows) > 0 && len(rows[0]) > 1:
			return rows, false
		case err != nil || len(row) > maxColumns:
			return nil, false
		case len(rows) == maxRows:
			return rows, true
		}
		rows = append(rows, row)
	}
}

// separator returns the sign between values.
func separator(ext string, content []byte) rune {
	if ext == ".tsv" {
		return '\t'
	}
	first, _, _ := bytes.Cut(content, []byte("\n"))
	best, most := ',', 0
	for _, sign := range ",;\t" {
		if n := bytes.Count(first, []byte(string(sign))); n > most {
			best, most = sign, n
		}
	}
	return best
}
