package sqlshell

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"os/signal"
	"slices"
	"strings"
	"syscall"

	"golang.org/x/term"

	"github.com/foliofs/folio/cmd/folio/internal/interrupt"
	"github.com/foliofs/folio/cmd/folio/internal/quote"
)

// errInterrupted says that the user pressed Ctrl-C at the prompt.
var errInterrupted = errors.New("interrupted")

// A prompt reads lines from a terminal, with a history and completion.
type prompt struct {
	terminal *term.Terminal
	in       *os.File
	keys     *keys
	// interrupts gets SIGINT from the first prompt to the last, so that none ends the process.
	interrupts chan os.Signal
	words      func() []string // that can be completed
	// inTransaction reports whether BEGIN has begun a transaction that has not ended.
	inTransaction func() bool
}

// newPrompt returns nil if the input or the output is no terminal.
func newPrompt(ctx context.Context, s *Shell) *prompt {
	in, ok := s.Stdin.(*os.File)
	if !ok || !s.OutTerminal || !term.IsTerminal(int(in.Fd())) {
		return nil
	}
	p := &prompt{in: in, keys: &keys{in: in}, interrupts: make(chan os.Signal, 1), words: func() []string { return s.words(ctx) }, inTransaction: s.Conn.InTransaction}
	signal.Notify(p.interrupts, os.Interrupt)
	p.reset()
	return p
}

// reset begins with an empty line and the same history.
func (p *prompt) reset() {
	t := term.NewTerminal(struct {
		io.Reader
		io.Writer
	}{p.keys, os.Stdout}, "")
	if p.terminal != nil {
		t.History = p.terminal.History
	}
	t.AutoCompleteCallback = func(line string, at int, key rune) (string, int, bool) {
		if key != '\t' {
			return "", 0, false
		}
		return p.complete(line, at)
	}
	p.terminal = t
}

// read reads a line. Between two lines the terminal is in its usual mode, in which Ctrl-C is a
// signal. A signal that ends the shell ends the read first, so that the terminal gets that mode
// back.
func (p *prompt) read(continued bool) (string, error) {
	fd := int(p.in.Fd())
	before, err := term.MakeRaw(fd)
	if err != nil {
		return "", err
	}
	defer func() { _ = term.Restore(fd, before) }()
	if width, height, err := term.GetSize(fd); err == nil && width > 0 {
		_ = p.terminal.SetSize(width, height)
	}
	switch {
	case continued:
		p.terminal.SetPrompt("  ...> ")
	case p.inTransaction():
		p.terminal.SetPrompt("folio*> ")
	default:
		p.terminal.SetPrompt("folio> ")
	}
	line, err := p.readLine()
	if err == io.EOF && p.keys.interrupted {
		_, _ = os.Stdout.WriteString("^C\r\n")
		p.reset() // the library would read the line again
		err = errInterrupted
	}
	if err == term.ErrPasteIndicator {
		err = nil
	}
	return line, err
}

// readLine is ReadLine of the terminal, or the error of a signal. Then the read ends with the
// process.
func (p *prompt) readLine() (string, error) {
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	defer signal.Stop(signals)
	type result struct {
		line string
		err  error
	}
	done := make(chan result, 1)
	go func(t *term.Terminal) {
		line, err := t.ReadLine()
		done <- result{line, err}
	}(p.terminal)
	select {
	case r := <-done:
		return r.line, r.err
	case s := <-signals:
		number, _ := s.(syscall.Signal)
		return "", &interrupt.Error{Signal: number}
	}
}

// end lets SIGINT end the process again.
func (p *prompt) end() { signal.Stop(p.interrupts) }

// keys are the bytes of a terminal. The terminal's library has one error for Ctrl-C and Ctrl-D.
type keys struct {
	in          *os.File
	interrupted bool // Ctrl-C was the last key
}

func (k *keys) Read(b []byte) (int, error) {
	n, err := k.in.Read(b)
	k.interrupted = bytes.IndexByte(b[:n], 3) >= 0
	return n, err
}

// words returns the words that can be completed: commands, keywords, tables and their columns.
func (s *Shell) words(ctx context.Context) []string {
	words := strings.Fields("INSERT INTO UPDATE SET DELETE CREATE TABLE INDEX VIEW DROP ALTER BEGIN COMMIT ROLLBACK PRAGMA SELECT FROM WHERE GROUP ORDER BY HAVING LIMIT OFFSET DISTINCT LEFT JOIN NATURAL USING UNION EXCEPT INTERSECT " +
		"VALUES WITH RECURSIVE BETWEEN COLLATE EXISTS count group_concat length substr coalesce")
	for _, c := range commands {
		words = append(words, c.name)
	}
	tables, _ := s.texts(ctx, "SELECT name FROM sqlite_schema WHERE type IN ('table', 'view')")
	for _, t := range tables {
		words = append(words, t)
		columns, _ := s.Conn.Columns(ctx, `SELECT * FROM "`+strings.ReplaceAll(t, `"`, `""`)+`"`)
		words = append(words, columns...)
	}
	words = slices.DeleteFunc(words, func(w string) bool { return !quote.Printable(w) })
	slices.Sort(words)
	return slices.Compact(words)
}

// complete completes the word before a place of the line as far as it is clear. If there are
// several words, it lists them.
func (p *prompt) complete(line string, at int) (string, int, bool) {
	begin := strings.LastIndexAny(line[:at], " \t(,=<>+-*/|.")
	if begin < 0 || line[begin] != '.' || begin > 0 {
		begin++
	}
	prefix := line[begin:at]
	found := slices.DeleteFunc(p.words(), func(w string) bool {
		return len(w) < len(prefix) || !strings.EqualFold(w[:len(prefix)], prefix)
	})
	if len(found) == 0 || prefix == "" {
		return line, at, true
	}
	word := found[0]
	for _, w := range found[1:] {
		for !strings.HasPrefix(strings.ToLower(w), strings.ToLower(word)) {
			word = word[:len(word)-1]
		}
	}
	if len(found) > 1 && len(word) == len(prefix) {
		_, _ = p.terminal.Write([]byte(strings.Join(found, "  ") + "\n"))
		return line, at, true
	}
	return line[:begin] + word + line[at:], begin + len(word), true
}
