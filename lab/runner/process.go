package runner

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"time"

	"github.com/foliofs/folio/lab/result"
	"github.com/foliofs/folio/lab/workload"
)

// A process is a contender at work. It is killed when its time is over.
type process struct {
	cmd     *exec.Cmd
	in      io.WriteCloser
	replies chan line
	stderr  tail
	timeout time.Duration
}

// A line is what a contender said.
type line struct {
	text []byte
	err  error
}

// maxReply is the longest line that a contender may say.
const maxReply = 4 << 20

// start starts a program. Each of its replies may take until timeout.
func start(ctx context.Context, timeout time.Duration, program string, args ...string) (*process, error) {
	p := &process{cmd: exec.CommandContext(ctx, program, args...), replies: make(chan line, 16), timeout: timeout}
	alone(p.cmd)
	p.cmd.Stderr = &p.stderr
	p.cmd.WaitDelay = 5 * time.Second
	var err error
	if p.in, err = p.cmd.StdinPipe(); err != nil {
		return nil, err
	}
	out, err := p.cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := p.cmd.Start(); err != nil {
		return nil, err
	}
	go p.listen(out)
	return p, nil
}

// listen passes on what the process says until it has said all.
func (p *process) listen(out io.Reader) {
	defer close(p.replies)
	r := bufio.NewReaderSize(out, 64<<10)
	var text []byte
	for {
		part, err := r.ReadSlice('\n')
		text = append(text, part...)
		switch {
		case len(text) > maxReply:
			p.replies <- line{err: fmt.Errorf("a line of more than %d bytes", maxReply)}
			_, _ = io.Copy(io.Discard, r)
			return
		case err == nil:
			p.replies <- line{text: text}
			text = nil
		case err != bufio.ErrBufferFull:
			if len(text) > 0 {
				p.replies <- line{text: text}
			}
			return
		}
	}
}

// tell sends a request. A process that is gone, or does not read, shows itself when it is asked for a reply.
func (p *process) tell(r workload.Request) {
	text, err := json.Marshal(r)
	if err != nil {
		panic(err) // requests are our own
	}
	go func() { _, _ = p.in.Write(append(text, '\n')) }() // a pipe takes 64 KiB from us, and then waits for the process
}

// reply waits for the next thing that the process says.
func (p *process) reply() (*workload.Reply, error) {
	ctx, stop := context.WithCancel(context.Background())
	defer stop()
	select {
	case l, ok := <-p.replies:
		if !ok {
			return nil, &failure{result.FailureCrash, errEnded}
		}
		if l.err != nil {
			return nil, &failure{result.FailureGarbage, l.err}
		}
		return parseReply(l.text)
	case <-patience(ctx, p.cmd.Process.Pid, p.timeout):
		return nil, &failure{result.FailureHang, idled("no reply", p.cmd.Process.Pid, p.timeout)}
	}
}

var errEnded = errors.New("it ended before its time")

func parseReply(text []byte) (*workload.Reply, error) {
	var r workload.Reply
	d := json.NewDecoder(bytes.NewReader(text))
	d.DisallowUnknownFields()
	if err := d.Decode(&r); err != nil {
		return nil, &failure{result.FailureGarbage, fmt.Errorf("it said %q", oneLine(text[:min(len(text), 100)]))}
	}
	if r.Error != nil {
		kind := result.FailureError
		if r.Error.Wrong {
			kind = result.FailureWrong
		}
		return nil, &failure{kind, errors.New(oneLine([]byte(r.Error.Message)))}
	}
	return &r, nil
}

// end closes the input of the process and waits for it to end. After an error it is killed. The error is the given one with
// what is known of the end, or that of an end that was not good.
func (p *process) end(err error) error {
	_ = p.in.Close()
	hung := func() bool { return false }
	if err == nil || errors.Is(err, errEnded) {
		hung = watch(p.cmd.Process.Pid, p.timeout, func() { _ = killAll(p.cmd) })
	} else {
		_ = killAll(p.cmd)
	}
	for range p.replies { // it may have more to say, which nobody hears
	}
	ended := p.cmd.Wait()
	switch over := hung(); {
	case err == nil && ended != nil && over:
		return &failure{result.FailureHang, fmt.Errorf("it did not end within %v", p.timeout)}
	case err == nil && ended != nil:
		return &failure{result.FailureCrash, fmt.Errorf("after its work: %w", ended)}
	case errors.Is(err, errEnded) && ended != nil:
		return &failure{result.FailureCrash, ended}
	}
	return err
}

// A failure is what a contender did wrong.
type failure struct {
	kind result.FailureKind
	err  error
}

func (f *failure) Error() string { return f.err.Error() }

func (f *failure) Unwrap() error { return f.err }

// kindOf classifies an error of a sample.
func kindOf(err error) result.FailureKind {
	var f *failure
	if errors.As(err, &f) {
		return f.kind
	}
	return result.FailureError
}

// A tail keeps the end of what is written to it.
type tail struct{ b []byte }

const maxTail = 4 << 10

func (t *tail) Write(p []byte) (int, error) {
	t.b = append(t.b, p...)
	if len(t.b) > 2*maxTail {
		t.b = append(t.b[:0], t.b[len(t.b)-maxTail:]...)
	}
	return len(p), nil
}

func (t *tail) String() string { return string(t.b[max(0, len(t.b)-maxTail):]) }
