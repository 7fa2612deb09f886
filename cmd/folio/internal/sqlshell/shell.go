// Package sqlshell runs SQL statements for a person or a script, and writes their rows.
package sqlshell

import (
	"bufio"
	"context"
	"errors"
	"io"
	"strings"

	"github.com/foliofs/folio/cmd/folio/internal/failure"
	"github.com/foliofs/folio/cmd/folio/internal/interrupt"
	"github.com/foliofs/folio/cmd/folio/internal/quote"
	"github.com/foliofs/folio/cmd/folio/internal/terminal"
	"github.com/foliofs/folio/internal/sql/syntax"
	"github.com/foliofs/folio/sqlite"
)

// A Shell runs statements on one database.
type Shell struct {
	*terminal.Streams
	DB     *sqlite.DB
	Conn   *sqlite.Conn // of DB: a transaction may span statements
	Path   string       // of the database, for errors
	Format Format
}

// errQuit is the result of .quit.
var errQuit = errors.New("quit")

// Run runs a text: a command that begins with a dot, or statements, up to the first error.
func (s *Shell) Run(ctx context.Context, text string) error {
	if strings.HasPrefix(text, ".") {
		return s.command(ctx, strings.TrimSpace(text))
	}
	for {
		p, failed := syntax.Parse(text)
		one := text
		if failed == nil {
			one, text = text[:p.Tail], text[p.Tail:]
		}
		switch {
		case failed == nil && p.Statement == nil && text == "":
			return nil
		case failed == nil && p.Statement == nil: // ";" alone
			continue
		}
		if err := s.query(ctx, one); err != nil || failed != nil {
			return err
		}
	}
}

// query runs one statement and writes its rows. The rows before an error are written, too.
func (s *Shell) query(ctx context.Context, sql string) error {
	names, err := s.Conn.Columns(ctx, sql)
	if err != nil {
		return failure.At(s.Path, err)
	}
	var out writer
	if len(names) > 0 {
		out = s.Format.writer(s, names)
	}
	for row, err := range s.Conn.Query(ctx, sql) {
		if err != nil {
			if err = failure.At(s.Path, err); out != nil {
				err = errors.Join(err, out.end())
			}
			return err
		}
		if out == nil { // a PRAGMA, whose columns are known now
			out = s.Format.writer(s, row.Columns())
		}
		if err := out.row(row); err != nil {
			return failure.OfOutput(err)
		}
	}
	if out == nil {
		return nil
	}
	if err := out.end(); err != nil {
		return failure.OfOutput(err)
	}
	return nil
}

// texts returns the first column of the rows of a query.
func (s *Shell) texts(ctx context.Context, sql string, args ...any) (list []string, err error) {
	for row, err := range s.Conn.Query(ctx, sql, args...) {
		if err != nil {
			return nil, failure.At(s.Path, err)
		}
		list = append(list, row.Text(0))
	}
	return list, nil
}

// shown returns a text that goes to the output as it is, unless that is a terminal, whose cursor
// nothing in it must move.
func (s *Shell) shown(text string) string {
	if !s.OutTerminal {
		return text
	}
	lines := strings.Split(text, "\n")
	for i := range lines {
		lines[i] = quote.Escape(lines[i])
	}
	return strings.Join(lines, "\n")
}

// Read runs the statements that standard input has. On a terminal it asks for them, an error does
// not end it, and an interrupt ends the statement only. Elsewhere the first error ends it.
func (s *Shell) Read(ctx context.Context) error {
	if p := newPrompt(ctx, s); p != nil {
		return s.converse(ctx, p)
	}
	in := bufio.NewReader(s.Stdin)
	var pending strings.Builder
	for {
		line, err := in.ReadString('\n')
		pending.WriteString(line)
		if text := pending.String(); err != nil || isWhole(text, line) {
			if err := s.Run(ctx, text); err != nil {
				return Ended(err)
			}
			pending.Reset()
		}
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return failure.At("standard input", err)
		}
	}
}

// Ended returns the error of Run, nil for .quit.
func Ended(err error) error {
	if err == errQuit {
		return nil
	}
	return err
}

// isWhole reports whether the lines so far are a command, or end with a statement. It reads all of
// them only if the last one has a semicolon: a statement may have very many lines.
func isWhole(text, last string) bool {
	if len(text) == len(last) && (strings.HasPrefix(text, ".") || strings.TrimSpace(text) == "") {
		return true
	}
	return strings.Contains(last, ";") && syntax.Complete(text)
}

// converse asks for statements until the user ends it.
func (s *Shell) converse(ctx context.Context, p *prompt) error {
	defer p.end()
	pending := ""
	for {
		line, err := p.read(pending != "")
		switch {
		case err == errInterrupted:
			pending = ""
			continue
		case err == io.EOF:
			return nil
		case err != nil && interrupt.Of(ctx, err) != nil:
			return err
		case err != nil:
			return failure.At("standard input", err)
		}
		line += "\n"
		if pending += line; !isWhole(pending, line) {
			continue
		}
		err = s.interruptible(ctx, p, pending)
		if flushed := s.Stdout.Flush(); flushed != nil {
			return failure.OfOutput(flushed)
		}
		if err == errQuit {
			return nil
		}
		if err != nil {
			s.Complain(failure.Message(err))
		}
		pending = ""
	}
}

// interruptible runs a text until it ends or the user interrupts it.
func (s *Shell) interruptible(ctx context.Context, p *prompt, text string) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	ended := make(chan error, 1)
	go func() { ended <- s.Run(ctx, text) }()
	for {
		select {
		case err := <-ended:
			select {
			case <-p.interrupts: // too late for this text, and not meant for the next one
			default:
			}
			return err
		case <-p.interrupts:
			cancel()
		}
	}
}
