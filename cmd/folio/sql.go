package main

import (
	"context"
	"errors"
	"io/fs"

	"github.com/spf13/cobra"

	"github.com/foliofs/folio/cmd/folio/internal/failure"
	"github.com/foliofs/folio/cmd/folio/internal/location"
	"github.com/foliofs/folio/cmd/folio/internal/sqlshell"
	"github.com/foliofs/folio/internal/store"
	"github.com/foliofs/folio/sqlite"
)

const sqlLong = `Run SQL on a SQLite database: that of another program, also while it writes, or a volume.

The statements are arguments, or lines of standard input. On a terminal there is a prompt, where Ctrl-C
ends a statement, and the end of the input ends the shell. A statement ends with a semicolon. Otherwise
the first error ends the command. What BEGIN has begun and nothing has ended is rolled back at the end.
A volume is only read: statements that write its tables would not keep its rules.

Besides statements there are commands: .tables, .schema, .plan, .dump, .import, .backup, .mode; .help
lists them.

With --output json there is one object for each row and line, as docs/howto/query.md describes.`

func (c *command) sqlCommand() *cobra.Command {
	shell := &sqlshell.Shell{Streams: &c.Streams, Format: "table"}
	cmd := newCommand("sql FILE [STATEMENT]...", "Query and change a SQLite database in SQL, or query a volume",
		sqlLong,
		`  folio sql photos.folio 'SELECT type, count(*), sum(size) FROM file GROUP BY type'
  folio sql app.db .schema
  folio sql --output csv app.db 'SELECT * FROM user WHERE age > 30' > users.csv
  folio sql app.db < report.sql`,
		between(1, -1, "FILE"))
	cmd.ValidArgsFunction = nil
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		loc, err := location.WholeVolume(args[0])
		if err != nil {
			return err
		}
		return c.sql(cmd.Context(), shell, loc.Volume, args[1:])
	}
	cmd.Flags().FuncP("output", "o", "`format` of the rows: table, csv, json, line or markdown", shell.Format.Set)
	return cmd
}

func (c *command) sql(ctx context.Context, shell *sqlshell.Shell, file string, statements []string) error {
	db, err := openSQL(ctx, file)
	if err != nil {
		return openFailure(file, err)
	}
	defer db.Close()
	shell.DB, shell.Path = db, file
	if shell.Conn, err = db.Conn(ctx); err != nil {
		return openFailure(file, err)
	}
	defer shell.Conn.Close()
	if len(statements) == 0 {
		return shell.Read(ctx)
	}
	for _, text := range statements {
		if err := shell.Run(ctx, text); err != nil {
			return sqlshell.Ended(err)
		}
	}
	return nil
}

// openSQL opens a database: a volume for reading, since statements on its tables would not keep its
// rules, and another one for writing, too.
func openSQL(ctx context.Context, file string) (*sqlite.DB, error) {
	db, err := sqlite.Open(file, &sqlite.Options{ReadOnly: true})
	if err != nil {
		return nil, err
	}
	var application int64
	if _, err := db.QueryRow(ctx, []any{&application}, "PRAGMA application_id"); err != nil || application == store.ApplicationID {
		return db, err
	}
	if err := db.Close(); err != nil {
		return nil, err
	}
	return sqlite.Open(file, nil)
}

// openFailure names the file in an error of opening it. The text is SQLite's if it has one.
func openFailure(file string, err error) error {
	if e, ok := errors.AsType[*sqlite.Error](err); ok && e.Code != sqlite.CodeError {
		return failure.Rehint(&fs.PathError{Path: file, Err: err}, "")
	}
	return failure.At(file, err)
}
