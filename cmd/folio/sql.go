package main

import (
	"context"
	"errors"
	"io/fs"

	"github.com/spf13/cobra"

	"github.com/foliofs/folio/cmd/folio/internal/failure"
	"github.com/foliofs/folio/cmd/folio/internal/location"
	"github.com/foliofs/folio/cmd/folio/internal/sqlshell"
	"github.com/foliofs/folio/sqlite"
)

const sqlLong = `Ask questions in SQL of a SQLite database: a volume, or that of another program, also while it writes.

The statements are arguments, or lines of standard input. On a terminal there is a prompt, where Ctrl-C
ends a statement, and the end of the input ends the shell. A statement ends with a semicolon. Otherwise
the first error ends the command. Nothing is changed: a statement that writes is refused, as yet.

Besides statements there are commands: .tables, .schema, .plan, .mode; .help lists them.

With --output json there is one object for each row and line, as docs/howto/query.md describes.`

func (c *command) sqlCommand() *cobra.Command {
	shell := &sqlshell.Shell{Streams: &c.Streams, Format: "table"}
	cmd := newCommand("sql FILE [STATEMENT]...", "Query a SQLite database, or a volume, in SQL",
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
	db, err := sqlite.Open(file, nil)
	if err != nil {
		return openFailure(file, err)
	}
	defer db.Close()
	shell.DB, shell.Path = db, file
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

// openFailure names the file in an error of opening it. The text is SQLite's if it has one.
func openFailure(file string, err error) error {
	if e, ok := errors.AsType[*sqlite.Error](err); ok && e.Code != sqlite.CodeError {
		return failure.Rehint(&fs.PathError{Path: file, Err: err}, "")
	}
	return failure.At(file, err)
}
