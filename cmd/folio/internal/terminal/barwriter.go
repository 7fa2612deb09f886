package terminal

import (
	"io"
	"os"
	"time"
	"unicode/utf8"

	"github.com/schollz/progressbar/v3"
	"golang.org/x/term"
)

const (
	usualColumns = 80 // of a terminal that does not tell its width
	usualBar     = 20 // columns of a bar that was not drawn yet
)

// A barWriter writes the line of a progress bar to a terminal. It drops writes before its time.
//
// It asks for the width of the terminal at each write, as a user may change it meanwhile. A line
// that is too long would wrap, and each write would scroll, so it is cut off; the bar gets as long
// at the next write as the terminal is wide.
type barWriter struct {
	w     io.Writer
	from  time.Time
	bar   *progressbar.ProgressBar // which writes
	width int                      // columns of the bar in the next line
}

// setBar takes the bar that writes from now on.
func (b *barWriter) setBar(bar *progressbar.ProgressBar) {
	b.bar = bar
	b.resize(b.width)
}

// resize sets the columns of the bar, at least one.
func (b *barWriter) resize(width int) {
	b.width = max(1, width)
	progressbar.OptionSetWidth(b.width)(b.bar)
}

// Write implements io.Writer. It takes a line, or an escape sequence that erases a line.
func (b *barWriter) Write(p []byte) (int, error) {
	room := b.columns() - 1 // the cursor stays in the line
	cut, length := cutLine(p, room)
	if length > 0 && b.bar != nil {
		b.resize(b.width + room - length)
	}
	if time.Now().Before(b.from) {
		return len(p), nil
	}
	if _, err := b.w.Write(cut); err != nil {
		return 0, err
	}
	return len(p), nil
}

// columns returns the width of the terminal.
func (b *barWriter) columns() int {
	if f, ok := b.w.(*os.File); ok {
		if n, _, err := term.GetSize(int(f.Fd())); err == nil && n > 0 {
			return n
		}
	}
	return usualColumns
}

// cutLine returns a line without the characters that lie beyond room columns, and its length in
// columns. Escape sequences take no room.
func cutLine(line []byte, room int) (cut []byte, length int) {
	for len(line) > 0 {
		n := escapeLen(line)
		if n == 0 {
			_, n = utf8.DecodeRune(line)
			if line[0] != '\r' {
				length++
			}
		}
		if length <= room || line[0] == '\r' || line[0] == '\x1b' {
			cut = append(cut, line[:n]...)
		}
		line = line[n:]
	}
	return cut, length
}

// escapeLen returns the length of the escape sequence that a text begins with, or 0.
func escapeLen(p []byte) int {
	if len(p) < 2 || p[0] != '\x1b' || p[1] != '[' {
		return 0
	}
	for i, c := range p[2:] {
		if '@' <= c && c <= '~' {
			return i + 3
		}
	}
	return len(p)
}
