package volumetest

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/foliofs/folio"
	"github.com/foliofs/folio/internal/must"
	"github.com/foliofs/folio/internal/osfile"
	"github.com/foliofs/folio/internal/osfile/faultfs"
	"github.com/foliofs/folio/internal/race"
	"github.com/foliofs/folio/sqlitefile"
)

var faultStride = flag.Int("fault.stride", 61, "TestFaults tries every so manieth way to cut a file off; 1 for all")

// A fault is an event before a call on a volume, or in the middle of it.
type fault struct {
	name    string
	hits    func(c *faultCall) bool // the calls that it happens to
	options folio.Options
	where   func(c *faultCall) scope // the function in which the call runs
	ended   bool                     // that function has returned before the call
	cancel  bool                     // the context is done
	moment  int
	happen  func(s *faultScene)
	mounted string // the directory of the volume; "" for any

	spares bool                  // a call may succeed
	want   []error               // each error matches one of them
	judged func(err error) error // in place of want
}

// The moments of a fault. From atOperation on it is at that operation of the call on files.
const (
	before  = iota
	halfWay // in the middle of a content, of a function of the caller
	atOperation
)

// TestFaults makes each call of the package while each fault happens: it returns the error that
// the documentation names, and it neither panics, nor hangs, nor ends the process.
func TestFaults(t *testing.T) {
	race.Skip(t, "it is long, and calls from one goroutine")
	t.Parallel()
	image, calls := newFaultImage(t), faultCalls()
	for i, f := range faults() {
		t.Run(f.name, func(t *testing.T) {
			t.Parallel()
			dir := f.mounted
			if dir == "" {
				dir = memoryDir(t)
			}
			for j, c := range calls {
				if (i+j)%InQuick(4, 1) != 0 {
					continue
				}
				if f.hits == nil || f.hits(c) {
					f.try(t, dir, image, c)
				}
			}
		})
	}
}

// TestCutFaults makes each call while another process cuts a file of the volume off.
func TestCutFaults(t *testing.T) {
	race.Skip(t, "it is long, and calls from one goroutine")
	t.Parallel()
	image, calls, cuts := newFaultImage(t), faultCalls(), cutFaults()
	stride := *faultStride * InQuick(3, 1)
	for part := range faultParts {
		t.Run(fmt.Sprint(part), func(t *testing.T) {
			t.Parallel()
			dir := memoryDir(t)
			for n := range len(calls) * len(cuts) {
				if n%stride == 0 && n/stride%faultParts == part {
					cuts[n%len(cuts)].try(t, dir, image, calls[n/len(cuts)])
				}
			}
		})
	}
}

// faultParts is how many parts of TestCutFaults run at once.
const faultParts = 4

// try makes one call.
func (f *fault) try(t *testing.T, dir string, image faultImage, c *faultCall) {
	t.Helper()
	s := &faultScene{TB: t, dir: dir}
	defer s.close()
	must.Do(t, s.open(image, &f.options))
	what := fmt.Sprintf("%v, %s", c, f.name)
	if err := f.judge(c, guarded(what, func() error { return f.call(s, c) })); err != nil {
		t.Errorf("%s: %v", what, err)
	}
	if err := guarded(what+": Close", s.v.Close); errors.As(err, new(*panicError)) {
		t.Errorf("%s: Close: %v", what, err)
	}
}

// call makes the call, and returns its error alone.
func (f *fault) call(s *faultScene, c *faultCall) error {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	where := c.scope
	if f.where != nil {
		where = f.where(c)
	}
	var err error
	returned := false
	call := func() error {
		if f.cancel {
			cancel()
		}
		f.arm(s)
		err = c.run(s, ctx)
		returned = true
		return err
	}
	s.keep = c.scope == onVolume
	if f.ended {
		if err := s.in(where, func() error { return nil }); err != nil {
			return err
		}
		return call()
	}
	outer := s.in(where, call)
	switch {
	case !returned && c.scope == onVolume:
		return &panicError{value: outer}
	case !returned, err == nil && f.where == nil:
		return outer // of the transaction: a fault in an Update ends the function of the caller
	}
	return err
}

// arm lets the fault happen now, or later.
func (f *fault) arm(s *faultScene) {
	switch {
	case f.happen == nil:
	case f.moment == before:
		f.happen(s)
	case f.moment == halfWay:
		s.middle = func() { f.happen(s) }
	default:
		s.sys.Arm(faultfs.Fault{N: f.moment - atOperation + 1, Do: func() { f.happen(s) }})
	}
}

// judge checks the error of a call.
func (f *fault) judge(c *faultCall, err error) error {
	switch {
	case errors.Is(err, errWrong) || errors.As(err, new(*panicError)):
		return err
	case err == nil && (f.spares || c.answer&ofItself != 0):
		return nil
	case err == nil:
		return errors.New("no error")
	case strings.Contains(err.Error(), "\n"):
		return fmt.Errorf("more than one line: %w", err)
	case !namesPath(c, err):
		return fmt.Errorf("no path: %#v %w", err, err)
	}
	if c.within == "a View" && !f.ended && c.answer&writes != 0 {
		return refused(err)
	}
	if f.judged != nil {
		return f.judged(err)
	}
	for _, want := range f.want {
		if errors.Is(err, want) {
			return nil
		}
	}
	return fmt.Errorf("not an error that the documentation names: %w", err)
}

// refused returns err unless it is that of a file that was opened for reading.
func refused(err error) error {
	if errors.Is(err, syscall.EBADF) || errors.Is(err, fs.ErrInvalid) || errors.Is(err, fs.ErrClosed) {
		return nil
	}
	return err
}

// namesPath reports whether an error is a *fs.PathError with a path, or, of a method with two
// names, a *os.LinkError. A copy of the volume may have the error of package sqlitefile. The error
// of a context is returned as it is.
func namesPath(c *faultCall, err error) bool {
	if err == context.Canceled {
		return c.answer&takesCtx != 0
	}
	if link, ok := errors.AsType[*os.LinkError](err); ok {
		return c.answer&twoNames != 0 && link.Old != "" && link.New != ""
	}
	if _, ok := errors.AsType[*sqlitefile.CorruptError](err); ok && c.answer&wide != 0 {
		return true
	}
	if _, ok := errors.AsType[*osfile.FaultError](err); ok && c.answer&wide != 0 {
		return true
	}
	path, ok := errors.AsType[*fs.PathError](err)
	return ok && path.Path != ""
}

// faults returns all faults.
func faults() []*fault {
	list := []*fault{
		{
			name: "the volume is closed", ended: true, want: []error{fs.ErrClosed},
			// A second Close does nothing, as that of an os.Root.
			hits:   func(c *faultCall) bool { return isMethod(c) && c.scope != inCreate && c.name != "Volume.Close" },
			happen: func(s *faultScene) { must.Do(s, s.v.Close()) },
		},
		{
			name: "the file or the root is closed", want: []error{fs.ErrClosed},
			hits:   func(c *faultCall) bool { return ofFile(c) || ofRoot(c) },
			happen: func(s *faultScene) { must.Do(s, errors.Join(s.file.Close(), s.sub.Close(), s.root.Close())) },
		},
		{
			name: "the transaction has ended", ended: true, want: []error{fs.ErrClosed},
			hits: func(c *faultCall) bool { return c.scope != onVolume },
		},
		{
			name: "the context is done", cancel: true, want: []error{context.Canceled},
			hits: func(c *faultCall) bool { return c.answer&takesCtx != 0 },
		},
		{
			name: "a change in an Update", options: folio.Options{BusyTimeout: time.Millisecond}, want: []error{folio.ErrBusy},
			hits:  func(c *faultCall) bool { return c.scope == onVolume && isMethod(c) && c.answer&writes != 0 },
			where: func(*faultCall) scope { return inUpdate },
		},
		{
			name: "a read in an Update", spares: true,
			hits:  func(c *faultCall) bool { return c.scope == onVolume && isMethod(c) && c.answer&writes == 0 },
			where: func(*faultCall) scope { return inUpdate },
		},
		{
			name: "the volume is read-only", options: folio.Options{ReadOnly: true}, want: []error{syscall.EROFS},
			hits: func(c *faultCall) bool {
				return c.scope == onVolume && isMethod(c) && c.answer&writes != 0 && !waits(c)
			},
		},
		{
			name: "the volume is replaced", spares: true, want: []error{sqlitefile.ErrMoved, sqlitefile.ErrMispaired, fs.ErrNotExist},
			happen: replaceVolume,
		},
		{
			name: "the volume is removed", spares: true, want: []error{sqlitefile.ErrMoved, fs.ErrNotExist},
			happen: func(s *faultScene) { _ = os.Remove(s.path) },
		},
	}
	return list
}

// isMethod reports whether a call is a method of a volume, or of something that a volume has.
func isMethod(c *faultCall) bool { return strings.Contains(c.name, ".") }

func ofFile(c *faultCall) bool { return strings.HasPrefix(c.name, "File.") }

func ofRoot(c *faultCall) bool { return strings.HasPrefix(c.name, typeName[folio.Root]()+".") }

// waits reports whether a call changes nothing, and only waits for those that do.
func waits(c *faultCall) bool {
	_, method, _ := strings.Cut(c.name, ".")
	return method == "Close" || method == "Sync"
}

// replaceVolume renames another volume over the open one.
func replaceVolume(s *faultScene) {
	other := s.path + ".other"
	must.Do(s, folio.Create(context.Background(), other, nil, func(*folio.Builder) error { return nil }))
	_ = os.Rename(other, s.path) // some systems keep a file that is open
}
