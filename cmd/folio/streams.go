package main

import (
	"bufio"
	"fmt"
	"io"
	"io/fs"
	"os"

	"golang.org/x/term"
)

// Streams are standard input, output and error of one run of the command. The output is buffered
// until it ends.
type streams struct {
	stdin  io.Reader
	stdout *bufio.Writer
	stderr io.Writer

	outTerminal bool     // standard output is a terminal
	errTerminal bool     // standard error is one
	said        []string // lines of --verbose about changes that are not committed yet
}

const bufferSize = 64 << 10

// newStreams returns the streams of a command.
func newStreams(stdin io.Reader, stdout, stderr io.Writer) streams {
	return streams{
		stdin: stdin, stdout: bufio.NewWriterSize(stdout, bufferSize), stderr: stderr,
		outTerminal: isTerminal(stdout), errTerminal: isTerminal(stderr),
	}
}

func isTerminal(w any) bool {
	f, ok := w.(*os.File)
	return ok && term.IsTerminal(int(f.Fd()))
}

// name is a file's name for the output: quoted on a terminal, as it is for programs.
func (s *streams) name(file string) string {
	if s.outTerminal {
		return shellQuote(file)
	}
	return file
}

// warn writes a warning, in one line.
func (s *streams) warn(err error) {
	fmt.Fprintf(s.stderr, "folio: warning: %s\n", message(err))
}

// warnLeftOut says that a file was left out, and what it is.
func (s *streams) warnLeftOut(name, what string) {
	fmt.Fprintf(s.stderr, "folio: warning: %s: %s, left out\n", escape(name), what)
}

// warnUnreadable says that a file was left out because it could not be read.
func (s *streams) warnUnreadable(name string, err error) {
	s.warn(rehint(&fs.PathError{Path: name, Err: err}, "left out"))
}
