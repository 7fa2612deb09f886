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
	"sync/atomic"
	"time"

	"github.com/foliofs/folio/lab/result"
	"github.com/foliofs/folio/lab/workload"
)

// A process is a contender at work. It is killed when a step of it takes longer than timeout.
type process struct {
	cmd     *exec.Cmd
	in      io.WriteCloser
	out     io.Reader
	lines   *bufio.Scanner // of out
	stderr  tail
	timeout time.Duration
}

// maxReply is the longest line that a contender may say.
const maxReply = 4 << 20

// start starts a program. Each of its replies may take until timeout.
func start(ctx context.Context, timeout time.Duration, program program) (*process, error) {
	p := &process{cmd: exec.CommandContext(ctx, program.path, program.args...), timeout: timeout}
	alone(p.cmd)
	p.cmd.Stderr = &p.stderr
	p.cmd.WaitDelay = 5 * time.Second
	var err error
	if p.in, err = p.cmd.StdinPipe(); err != nil {
		return nil, err
	}
	if p.out, err = p.cmd.StdoutPipe(); err != nil {
		return nil, err
	}
	p.lines = bufio.NewScanner(p.out)
	p.lines.Buffer(nil, maxReply)
	return p, p.cmd.Start()
}

// watch calls over when timeout has passed. end stops the watch, and reports whether over was
// called.
func watch(timeout time.Duration, over func()) (end func() bool) {
	var called atomic.Bool
	timer := time.AfterFunc(timeout, func() { called.Store(true); over() })
	return func() bool {
		timer.Stop()
		return called.Load()
	}
}

// ask sends a request, and waits for the reply.
func (p *process) ask(r workload.Request) (*workload.Reply, error) {
	text, err := json.Marshal(r)
	if err != nil {
		return nil, err
	}
	hung := watch(p.timeout, func() { _ = killAll(p.cmd) })
	_, _ = p.in.Write(append(text, '\n')) // a process that is gone, or was killed as it does not read, gives no reply
	return p.hear(hung)
}

// reply waits for the next thing that the process says.
func (p *process) reply() (*workload.Reply, error) {
	return p.hear(watch(p.timeout, func() { _ = killAll(p.cmd) }))
}

func (p *process) hear(hung func() bool) (*workload.Reply, error) {
	ok := p.lines.Scan()
	switch {
	case hung():
		return nil, &failure{result.FailureHang, fmt.Errorf("no reply within %v", p.timeout)}
	case ok:
		return parseReply(p.lines.Bytes())
	case errors.Is(p.lines.Err(), bufio.ErrTooLong):
		return nil, &failure{result.FailureGarbage, fmt.Errorf("a line of more than %d bytes", maxReply)}
	}
	return nil, &failure{result.FailureCrash, errEnded}
}

var errEnded = errors.New("it ended before its time")

func parseReply(text []byte) (*workload.Reply, error) {
	var r workload.Reply
	d := json.NewDecoder(bytes.NewReader(text))
	d.DisallowUnknownFields()
	if err := d.Decode(&r); err != nil {
		return nil, garbage("it said %q", OneLine(text[:min(len(text), 100)]))
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
	_, _ = io.Copy(io.Discard, p.out) // the rest of its output
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

// consult starts a program for one request, and gives its replies to take until that wants no more.
// If that fails, the error ends with the complaints of the program.
func (r *run) consult(ctx context.Context, program program, request workload.Request, take func(*workload.Reply) (more bool, err error)) error {
	p, err := start(ctx, r.o.Timeout, program)
	if err != nil {
		return err
	}
	reply, err := p.ask(request)
	for more := true; err == nil; reply, err = p.reply() {
		if more, err = take(reply); err != nil || !more {
			break
		}
	}
	if err = p.end(err); err == nil {
		return nil
	}
	if text := OneLine([]byte(p.stderr.String())); text != "" {
		return fmt.Errorf("%w: %s", err, text)
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

// garbage is a failure of a contender that does not speak the protocol.
func garbage(format string, args ...any) error {
	return &failure{result.FailureGarbage, fmt.Errorf(format, args...)}
}

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
