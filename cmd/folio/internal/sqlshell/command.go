package sqlshell

import (
	"context"
	"fmt"
	"io"
	"strings"

	"github.com/foliofs/folio/cmd/folio/internal/failure"
)

// A command is a line that begins with a dot, for example .tables.
type command struct {
	name, argument, help string
	run                  func(s *Shell, ctx context.Context, argument string) error
}

var commands = []command{
	{".tables", "[PATTERN]", "list the tables and views, those whose names are LIKE the pattern", (*Shell).tables},
	{".schema", "[TABLE]", "write the statements that make the tables, views, indexes and triggers", (*Shell).schema},
	{".plan", "STATEMENT", "write how a query is answered, as EXPLAIN QUERY PLAN has it", (*Shell).plan},
	{".dump", "", "write the statements that make the database anew, with all rows", (*Shell).dump},
	{".backup", "FILE", "copy the database, as it is now, to a new file", (*Shell).backup},
	{".import", "FILE TABLE", "insert the lines of a CSV file into a table; a new table has the names of the first line", (*Shell).importCSV},
	{".mode", "FORMAT", "write rows as " + strings.Join(Formats, ", "), (*Shell).mode},
	{".quit", "", "end, as the end of the input does", func(*Shell, context.Context, string) error { return errQuit }},
}

// command runs a command that begins with a dot.
func (s *Shell) command(ctx context.Context, line string) error {
	name, argument, _ := strings.Cut(line, " ")
	if name == ".help" {
		return s.help()
	}
	if name == ".exit" {
		name = ".quit"
	}
	for _, c := range commands {
		if c.name == name {
			return c.run(s, ctx, strings.TrimSuffix(strings.TrimSpace(argument), ";"))
		}
	}
	return fmt.Errorf("unknown command %s; .help lists them", name)
}

func (s *Shell) help() error {
	for _, c := range commands {
		fmt.Fprintf(s.Stdout, "%-18s %s\n", c.name+" "+c.argument, c.help)
	}
	return nil
}

func (s *Shell) mode(_ context.Context, name string) error { return s.Format.Set(name) }

// tables lists the tables and views that are not SQLite's own.
func (s *Shell) tables(ctx context.Context, pattern string) error {
	if pattern == "" {
		pattern = "%"
	}
	list, err := s.texts(ctx, "SELECT name FROM sqlite_schema WHERE type IN ('table', 'view') AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\' AND name LIKE ? ORDER BY name", pattern)
	return s.lines(list, "", err)
}

// schema writes the statements of a table and its indexes and triggers, or of all.
func (s *Shell) schema(ctx context.Context, name string) error {
	list, err := s.texts(ctx, "SELECT sql FROM sqlite_schema WHERE sql IS NOT NULL AND (?1 = '' OR lower(tbl_name) = lower(?1)) ORDER BY rowid", name)
	return s.lines(list, ";", err)
}

// plan writes the plan of a query as a tree.
func (s *Shell) plan(ctx context.Context, statement string) error {
	var list []string
	before := map[int64]string{} // what stands before the steps below one
	for row, err := range s.Conn.Query(ctx, "EXPLAIN QUERY PLAN "+statement) {
		if err != nil {
			return failure.At(s.Path, err)
		}
		indent := before[row.Int64(1)]
		before[row.Int64(0)] = indent + "  "
		list = append(list, indent+row.Text(3))
	}
	return s.lines(list, "", nil)
}

func (s *Shell) lines(list []string, end string, err error) error {
	for _, text := range list {
		if _, err := io.WriteString(s.Stdout, s.shown(text)+end+"\n"); err != nil {
			return failure.OfOutput(err)
		}
	}
	return err
}
