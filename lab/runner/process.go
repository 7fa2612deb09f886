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

// A line is one line of a contender's output.
type line struct {
	text []byte
	err  error
}

// maxReply is the longest line that a contender may say.
const maxReply = 4 << 20

// start starts a program. Each of its replies may take until timeout.
func start(ctx context.Context, timeout time.Duration, program program) (*process, error) {
	p := &process{cmd: exec.CommandContext(ctx, program.path, program.args...), replies: make(chan line, 16), timeout: timeout}
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

// listen passes on each line of the process until its output ends.
func (p *process) listen(out io.Reader) {
	defer close(p.replies)
	lines := bufio.NewScanner(out)
	lines.Buffer(nil, maxReply)
	for lines.Scan() {
		p.replies <- line{text: bytes.Clone(lines.Bytes())}
	}
	if lines.Err() == bufio.ErrTooLong {
		p.replies <- line{err: fmt.Errorf("a line of more than %d bytes", maxReply)}
		_, _ = io.Copy(io.Discard, out)
	}
}

// tell sends a request. A process that is gone, or does not read, shows itself when it is asked for
// a reply.
func (p *process) tell(r workload.Request) {
	text, err := json.Marshal(r)
	if err != nil {
		panic(err) // requests are our own
	}
	go func() { _, _ = p.in.Write(append(text, '\n')) }() // a pipe takes 64 KiB from us, and then waits for the process
}

// reply waits for the next thing that the process says.
func (p *process) reply() (*workload.Reply, error) {
	over := make(chan struct{})
	defer watch(p.timeout, func() { close(over) })()
	select {
	case l, ok := <-p.replies:
		if !ok {
			return nil, &failure{result.FailureCrash, errEnded}
		}
		if l.err != nil {
			return nil, &failure{result.FailureGarbage, l.err}
		}
		return parseReply(l.text)
	case <-over:
		return nil, &failure{result.FailureHang, fmt.Errorf("no reply within %v", p.timeout)}
	}
}

var errEnded = errors.New("it ended before its time")

func parseReply(text []byte) (*workload.Reply, error) {
	var r workload.Reply
	d := json.NewDecoder(bytes.NewReader(text))
	d.DisallowUnknownFields()
	if err := d.Decode(&r); err != nil {
		return nil, &failure{result.FailureGarbage, fmt.Errorf("it said %q", OneLine(text[:min(len(text), 100)]))}
	}
	if r.Error != nil {
		kind := result.FailureError
		if r.Error.Wrong {
			kind = result.FailureWrong
		}
		return nil, &failure{kind, errors.New(OneLine([]byte(r.Error.Message)))}
	}
	return &r, nil
}

// end closes the input of the process and waits for it to end. It kills the process after an error.
// It returns the given error with more about the end, or the error of a bad end.
func (p *process) end(err error) error {
	_ = p.in.Close()
	hung := func() bool { return false }
	if err == nil || errors.Is(err, errEnded) {
		hung = watch(p.timeout, func() { _ = killAll(p.cmd) })
	} else {
		_ = killAll(p.cmd)
	}
	for range p.replies { // drop the rest of its output
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

// stopped says whether the run is to end. A process may die of an interrupt before the command
// hears of its own, for which it waits a second.
func stopped(ctx context.Context, err error) bool {
	if byInterrupt(err) {
		select {
		case <-ctx.Done():
		case <-time.After(time.Second):
		}
	}
	return ctx.Err() != nil
}

// A failure is an error of a contender, with its kind.
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

// A tail keeps the end of the bytes that are written to it.
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
