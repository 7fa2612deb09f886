// Package terminal is the command's side of the user: standard input, output and error, warnings,
// questions and the progress bar.
package terminal

import (
	"bufio"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"

	"golang.org/x/term"

	"github.com/foliofs/folio/cmd/folio/internal/failure"
	"github.com/foliofs/folio/cmd/folio/internal/quote"
)

// Streams are standard input, output and error of one run of the command. The output is buffered
// until it ends.
type Streams struct {
	Stdin  io.Reader
	Stdout *bufio.Writer
	Stderr io.Writer

	Hidden *strings.Replacer // takes passwords out of errors and warnings; or nil

	OutTerminal bool     // standard output is a terminal
	Colors      bool     // it is one that shows colors, and the user wants them
	errTerminal bool     // standard error is one
	said        []string // lines of --verbose about changes that are not committed yet
}

const bufferSize = 64 << 10

// New returns the streams of a command.
func New(stdin io.Reader, stdout, stderr io.Writer) Streams {
	tty := isTerminal(stdout)
	return Streams{
		Stdin: stdin, Stdout: bufio.NewWriterSize(stdout, bufferSize), Stderr: stderr,
		OutTerminal: tty, errTerminal: isTerminal(stderr),
		Colors: tty && os.Getenv("NO_COLOR") == "" && os.Getenv("TERM") != "dumb",
	}
}

func isTerminal(w any) bool {
	f, ok := w.(*os.File)
	return ok && term.IsTerminal(int(f.Fd()))
}

// OnTerminal reports whether standard error is a terminal that is still there.
func (s *Streams) OnTerminal() bool { return isTerminal(s.Stderr) }

// Name is a file's name for the output: quoted on a terminal, as it is for programs.
func (s *Streams) Name(file string) string {
	if s.OutTerminal {
		return quote.Shell(file)
	}
	return file
}

// Warn writes a warning, in one line.
func (s *Streams) Warn(err error) {
	s.Complain("warning: " + failure.Message(err))
}

// Complain writes a line to standard error, without the passwords of the command line.
func (s *Streams) Complain(line string) {
	if s.Hidden != nil {
		line = s.Hidden.Replace(line)
	}
	fmt.Fprintf(s.Stderr, "folio: %s\n", line)
}

// WarnLeftOut reports a file that was left out, and its kind.
func (s *Streams) WarnLeftOut(name, what string) {
	s.Complain(fmt.Sprintf("warning: %s: %s, left out", quote.Escape(name), what))
}

// WarnRefused says that an extended attribute of a file was left out because the disk does not take
// it.
func (s *Streams) WarnRefused(name, attr string, err error) {
	s.Warn(failure.Rehint(&fs.PathError{Path: name, Err: fmt.Errorf("extended attribute %s: %w", quote.Escape(attr), err)}, "left out"))
}

// WarnUnreadable says that a file was left out because it could not be read.
func (s *Streams) WarnUnreadable(name string, err error) {
	s.Warn(failure.Rehint(&fs.PathError{Path: name, Err: err}, "left out"))
}

// Say keeps a line of --verbose until the change that it is about is committed.
func (s *Streams) Say(format string, names ...string) {
	escaped := make([]any, len(names))
	for i, name := range names {
		escaped[i] = quote.Escape(name)
	}
	s.said = append(s.said, fmt.Sprintf(format, escaped...))
}

// Tell writes the lines that Say has kept. After an error they are dropped.
func (s *Streams) Tell(err error) error {
	if err == nil {
		for _, line := range s.said {
			fmt.Fprintln(s.Stdout, line)
		}
	}
	s.said = nil
	return err
}
