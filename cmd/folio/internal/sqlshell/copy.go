package sqlshell

import (
	"bufio"
	"context"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/foliofs/folio/cmd/folio/internal/failure"
)

// dump writes statements that make the database anew. The rows come from one snapshot with the
// schema.
func (s *Shell) dump(ctx context.Context, _ string) error {
	if s.Conn.InTransaction() {
		return s.dumpRows(ctx)
	}
	if _, err := s.Conn.Exec(ctx, "BEGIN"); err != nil {
		return failure.At(s.Path, err)
	}
	err := s.dumpRows(ctx)
	_, ended := s.Conn.Exec(context.WithoutCancel(ctx), "ROLLBACK")
	return errors.Join(err, ended)
}

func (s *Shell) dumpRows(ctx context.Context) error {
	out := bufio.NewWriter(s.Stdout)
	fmt.Fprintln(out, "PRAGMA foreign_keys=OFF;\nBEGIN TRANSACTION;")
	var later []string // what is made once the rows are there
	for row, err := range s.Conn.Query(ctx, "SELECT type, name, sql FROM sqlite_schema WHERE sql IS NOT NULL ORDER BY rowid") {
		if err != nil {
			return failure.At(s.Path, err)
		}
		kind, name, sql := row.Text(0), row.Text(1), row.Text(2)
		switch {
		case kind != "table":
			later = append(later, sql)
		case name == "sqlite_sequence":
			later = append([]string{"DELETE FROM sqlite_sequence"}, later...)
			if err := s.dumpTable(ctx, name, func(statement string) { later = append(later, statement) }); err != nil {
				return err
			}
		case strings.HasPrefix(name, "sqlite_"):
		case strings.HasPrefix(strings.ToUpper(sql), "CREATE VIRTUAL"):
			return fmt.Errorf("%s is a virtual table, which cannot be dumped yet", name)
		default:
			fmt.Fprintf(out, "%s;\n", sql)
			if err := s.dumpTable(ctx, name, func(statement string) { fmt.Fprintf(out, "%s;\n", statement) }); err != nil {
				return err
			}
		}
	}
	for _, sql := range later {
		fmt.Fprintf(out, "%s;\n", sql)
	}
	fmt.Fprintln(out, "COMMIT;")
	if err := out.Flush(); err != nil {
		return failure.OfOutput(err)
	}
	return nil
}

// dumpTable calls write with an INSERT for each row of a table. Generated columns are left out.
func (s *Shell) dumpTable(ctx context.Context, name string, write func(statement string)) error {
	columns, err := s.texts(ctx, "PRAGMA table_info("+identifier(name)+")")
	if err != nil {
		return err
	}
	var names, values []string
	for row, err := range s.Conn.Query(ctx, "PRAGMA table_info("+identifier(name)+")") {
		if err != nil {
			return failure.At(s.Path, err)
		}
		names = append(names, identifier(row.Text(1)))
		values = append(values, "quote("+identifier(row.Text(1))+")")
	}
	head := "INSERT INTO " + identifier(name) + " VALUES("
	if all, err := s.texts(ctx, "PRAGMA table_xinfo("+identifier(name)+")"); err != nil || len(all) != len(columns) {
		head = "INSERT INTO " + identifier(name) + "(" + strings.Join(names, ",") + ") VALUES("
	}
	for row, err := range s.Conn.Query(ctx, "SELECT "+strings.Join(values, ", ")+" FROM "+identifier(name)) {
		if err != nil {
			return failure.At(s.Path, err)
		}
		write(head + strings.Join(texts(row, "NULL"), ",") + ")")
	}
	return nil
}

// identifier makes a name of SQL.
func identifier(name string) string { return `"` + strings.ReplaceAll(name, `"`, `""`) + `"` }

// backup copies the database to a new file.
func (s *Shell) backup(ctx context.Context, path string) error {
	if path == "" {
		return errors.New(".backup needs the name of the new file")
	}
	if err := s.DB.BackupFile(ctx, path); err != nil {
		return failure.At(path, err)
	}
	return nil
}

// importCSV inserts the lines of a CSV file into a table, all of them or none. If there is no table
// of that name, it is made, with columns named as the first line says.
func (s *Shell) importCSV(ctx context.Context, argument string) error {
	path, table, ok := strings.Cut(argument, " ")
	if table = strings.TrimSpace(table); !ok || table == "" {
		return errors.New(".import needs the name of a CSV file and of a table")
	}
	file, err := os.Open(path)
	if err != nil {
		return failure.At(path, err)
	}
	defer file.Close()
	if _, err := s.Conn.Exec(ctx, "SAVEPOINT import"); err != nil {
		return failure.At(s.Path, err)
	}
	end := "RELEASE import"
	if err = s.importLines(ctx, csv.NewReader(bufio.NewReader(file)), path, table); err != nil {
		end = "ROLLBACK TO import; RELEASE import"
	}
	if _, ended := s.Conn.Exec(context.WithoutCancel(ctx), end); err == nil && ended != nil {
		err = failure.At(s.Path, ended)
	}
	return err
}

func (s *Shell) importLines(ctx context.Context, in *csv.Reader, path, table string) error {
	in.ReuseRecord = true
	columns, err := s.texts(ctx, "PRAGMA table_info("+identifier(table)+")")
	if err != nil {
		return err
	}
	n := len(columns)
	if n == 0 {
		names, err := in.Read()
		if err != nil {
			return failure.At(path, err)
		}
		var list []string
		for _, name := range names {
			list = append(list, identifier(name)+" TEXT")
		}
		if _, err := s.Conn.Exec(ctx, "CREATE TABLE "+identifier(table)+" ("+strings.Join(list, ", ")+")"); err != nil {
			return failure.At(s.Path, err)
		}
		n = len(names)
	}
	in.FieldsPerRecord = n
	insert := "INSERT INTO " + identifier(table) + " VALUES (?" + strings.Repeat(", ?", n-1) + ")"
	args := make([]any, n)
	for {
		line, err := in.Read()
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return failure.At(path, err)
		}
		for i, text := range line {
			args[i] = text
		}
		if _, err := s.Conn.Exec(ctx, insert, args...); err != nil {
			return failure.At(s.Path, err)
		}
	}
}
