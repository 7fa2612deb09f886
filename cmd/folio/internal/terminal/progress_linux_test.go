package terminal

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"
	"unicode/utf8"

	"golang.org/x/sys/unix"
)

// openTerminal returns both ends of a pseudoterminal: the one that its user sees, and the terminal.
func openTerminal(t *testing.T) (user int, terminal *os.File) {
	t.Helper()
	user, err := unix.Open("/dev/ptmx", unix.O_RDWR|unix.O_NOCTTY|unix.O_CLOEXEC, 0)
	if err != nil {
		t.Skip("no pseudoterminals:", err)
	}
	t.Cleanup(func() { unix.Close(user) })
	if err := unix.IoctlSetPointerInt(user, unix.TIOCSPTLCK, 0); err != nil {
		t.Skip("no pseudoterminals:", err)
	}
	n, err := unix.IoctlGetInt(user, unix.TIOCGPTN)
	if err != nil {
		t.Skip("no pseudoterminals:", err)
	}
	terminal, err = os.OpenFile(filepath.Join("/dev/pts", strconv.Itoa(n)), os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Skip("no pseudoterminals:", err)
	}
	t.Cleanup(func() { terminal.Close() })
	return user, terminal
}

// readTerminal returns the text that was written to a terminal since it was read last. The system
// passes a text on in pieces, so readTerminal writes a mark after it, and reads up to that.
func readTerminal(t *testing.T, user int, terminal *os.File) string {
	t.Helper()
	const mark = "\a"
	if _, err := terminal.WriteString(mark); err != nil {
		t.Fatal(err)
	}
	buf := make([]byte, 4096)
	for got := ""; ; {
		ready := []unix.PollFd{{Fd: int32(user), Events: unix.POLLIN}}
		n, err := unix.Poll(ready, 60_000)
		if err == unix.EINTR { // by the signal that lets another goroutine run
			continue
		}
		if n != 1 {
			t.Fatal("nothing was written:", err)
		}
		n, err = unix.Read(user, buf)
		if err != nil {
			t.Fatal(err)
		}
		got += string(buf[:n])
		if text, ok := strings.CutSuffix(got, mark); ok {
			return text
		}
	}
}

// The line of a progress bar never reaches the last column, whatever the user makes of the
// terminal's width, and the bar takes the room there is.
func TestProgressFollowsWidth(t *testing.T) {
	t.Parallel()
	user, terminal := openTerminal(t)
	synctest.Test(t, func(t *testing.T) {
		c := &Streams{Stderr: terminal}
		c.errTerminal = true
		p := c.NewProgress("importing", false)
		p.Total.Store(1 << 30)
		p.AddBytes(1 << 20)
		time.Sleep(progressMoment) // the bubble's time
		for _, columns := range []int{80, 60, 100, 30, 9, 1, 200, 70} {
			size := &unix.Winsize{Row: 24, Col: uint16(columns)}
			if err := unix.IoctlSetWinsize(user, unix.TIOCSWINSZ, size); err != nil {
				t.Fatal(err)
			}
			for draw := range 3 {
				time.Sleep(progressTick)
				p.AddBytes(20 << 20) // more than a percent
				checkLine(t, readTerminal(t, user, terminal), columns, draw > 0 && columns >= 60)
			}
		}
		p.Done()
		if got := readTerminal(t, user, terminal); !strings.HasSuffix(got, "\r\x1b[K") {
			t.Errorf("at the end: %q", got)
		}
	})
}

// checkLine checks that a line leaves the last column free, and only that if it is to be full.
func checkLine(t *testing.T, line string, columns int, full bool) {
	t.Helper()
	length := utf8.RuneCountInString(strings.TrimPrefix(line, eraseLine))
	if length >= columns || full && length < columns-4 || strings.Count(line, "\r") != 1 || strings.Contains(line, "\n") {
		t.Errorf("%d columns of %d: %q", length, columns, line)
	}
}
