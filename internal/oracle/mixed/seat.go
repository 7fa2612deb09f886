package main

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// A seat is a place in the ring for a member: one process after the other, as each is killed some
// day.
type seat struct {
	name  string
	kind  kind
	argv  []string // the program, and its first arguments
	first int      // writer
	ring  *ring
	fail  context.CancelCauseFunc

	cmd    *exec.Cmd
	in     io.WriteCloser
	told   chan string   // the lines to be written to in
	ended  chan struct{} // closed when everything that the process said is read
	errors bytes.Buffer  // its standard error
	killed bool
}

// start starts a process. It passes the transactions that earlier processes have acknowledged, and
// the journal mode to change to first, if any.
func (m *seat) start(seed uint64, mode string) (err error) {
	floors := make([]string, m.kind.writers)
	for i := range floors {
		floors[i] = strconv.FormatInt(m.ring.acked[m.first+i].Load(), 10)
	}
	args := append(m.argv[1:len(m.argv):len(m.argv)], "-db", m.ring.path, "-first", strconv.Itoa(m.first), "-floors", strings.Join(floors, ","),
		"-readers", strconv.Itoa(m.kind.readers), "-all", strconv.Itoa(len(m.ring.acked)), "-seed", strconv.FormatUint(seed%1_000_000_000, 10), "-switch", mode)
	m.cmd = exec.Command(m.argv[0], args...)
	m.errors.Reset()
	m.cmd.Stderr = &m.errors
	m.cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} // an interrupt is meant for the runner
	if m.in, err = m.cmd.StdinPipe(); err != nil {
		return err
	}
	out, err := m.cmd.StdoutPipe()
	if err != nil {
		return err
	}
	if err := m.cmd.Start(); err != nil {
		return err
	}
	m.killed = false
	m.told, m.ended = make(chan string, 1), make(chan struct{})
	m.ring.log.write(m.name, "started")
	go m.listen(out, m.ended)
	go speak(m.in, m.told)
	return nil
}

// speak passes lines on to a member: the member may be slow to listen.
func speak(in io.WriteCloser, told <-chan string) {
	for line := range told {
		_, _ = io.WriteString(in, line+"\n") // it may have been killed
	}
	_ = in.Close()
}

// tell tells the member something, unless it has not listened to the last thing yet.
func (m *seat) tell(line string) {
	select {
	case m.told <- line:
		m.ring.log.write(m.name, "told: "+line)
	default:
	}
}

// hush ends the standard input of the process.
func (m *seat) hush() {
	if m.told != nil {
		close(m.told)
		m.told = nil
	}
}

// listen reads the output of the process, to its end.
func (m *seat) listen(out io.Reader, ended chan<- struct{}) {
	defer close(ended)
	for s := bufio.NewScanner(out); s.Scan(); {
		m.ring.log.write(m.name, s.Text())
		if what := m.hear(strings.Fields(s.Text())); what != "" {
			m.fail(fmt.Errorf("%s: %s", m.name, what))
		}
	}
}

// hear takes one line, and returns a violated condition.
func (m *seat) hear(words []string) string {
	c := &m.ring.counts
	switch {
	case len(words) == 3 && words[0] == "a":
		return m.acknowledge(words[1], words[2])
	case len(words) == 2 && words[0] == "b":
		c.busy.add(m.name, atoi(words[1]))
	case len(words) == 2 && words[0] == "r":
		c.looks.add(m.name, atoi(words[1]))
	case len(words) == 2 && words[0] == "k":
		c.chores.add(words[1], 1)
	case len(words) == 2 && words[0] == "m":
		c.modes.add(words[1], 1)
	case len(words) == 1 && words[0] == "i":
		select {
		case m.ring.middle <- m:
		default:
		}
	default:
		return strings.Join(words, " ")
	}
	return ""
}

func atoi(s string) int64 {
	n, _ := strconv.ParseInt(s, 10, 64)
	return n
}

// acknowledge notes that a transaction is committed.
func (m *seat) acknowledge(writer, seq string) string {
	w, n := int(atoi(writer)), atoi(seq)
	if w < m.first || w >= m.first+m.kind.writers {
		return "speaks for writer " + writer
	}
	if last := m.ring.acked[w].Swap(n); n != last+1 {
		return fmt.Sprintf("writer %d acknowledges %d after %d", w, n, last)
	}
	m.ring.counts.acks.add(m.name, 1)
	return ""
}

// kill ends the process as a crash would.
func (m *seat) kill() {
	m.killed = true
	_ = m.cmd.Process.Kill()
}

// quitDump lets a Go program print its goroutines, and end.
func (m *seat) quitDump() { _ = m.cmd.Process.Signal(syscall.SIGQUIT) }

// await waits until the process is gone and everything that it said is heard.
func (m *seat) await() error {
	<-m.ended
	m.hush()
	err := m.cmd.Wait()
	m.ring.log.write(m.name, fmt.Sprintf("ended: %v", err))
	if m.errors.Len() > 0 {
		m.ring.log.write(m.name, m.errors.String())
	}
	if s, ok := m.cmd.ProcessState.Sys().(syscall.WaitStatus); m.killed && ok && s.Signaled() && s.Signal() == syscall.SIGKILL {
		return nil
	}
	if err != nil {
		return fmt.Errorf("%s: %w: %.300s", m.name, err, m.errors.String())
	}
	return nil
}

// quit lets the process end by itself.
func (m *seat) quit() error {
	m.hush()
	hang := time.AfterFunc(stall, func() { _ = m.cmd.Process.Signal(syscall.SIGQUIT) })
	defer hang.Stop()
	<-m.ended
	err := m.cmd.Wait()
	m.ring.log.write(m.name, fmt.Sprintf("quit: %v %s", err, m.errors.String()))
	if err != nil {
		return fmt.Errorf("%s does not end well: %w: %.300s", m.name, err, m.errors.String())
	}
	return nil
}
