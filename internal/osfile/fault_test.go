package osfile_test

import (
	"errors"
	"io"
	"os"
	"runtime"
	"runtime/debug"
	"testing"

	"github.com/foliofs/folio/internal/osfile"
)

// A panic that is no fault in a mapping goes through with the same value.
func TestCatchLetsPanicsPass(t *testing.T) {
	t.Parallel()
	own := errors.New("own")
	for _, f := range []func(){
		func() { panic(own) },
		func() { panic("text") },
		func() { var s []int; _ = s[len(os.Args)] },
		func() { var p *int; *p = 1 },
	} {
		wantSamePanic(t, f)
	}
}

// wantSamePanic checks that a guard changes nothing for a function that panics.
func wantSamePanic(t *testing.T, f func()) {
	t.Helper()
	want := panicOf(f)
	if got := panicOf(func() { _ = guard(f) }); want == nil || !samePanic(got, want) {
		t.Errorf("panicked with %v (%T), want %v (%T)", got, got, want, want)
	}
}

func panicOf(f func()) (v any) {
	defer func() { v = recover() }()
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	f()
	return nil
}

// samePanic compares panic values; the runtime makes a new one each time.
func samePanic(a, b any) bool {
	ea, ok := a.(runtime.Error)
	if !ok {
		return a == b
	}
	eb, ok := b.(runtime.Error)
	return ok && ea.Error() == eb.Error()
}

// An error that the function returns stays, and Goexit is no panic.
func TestCatchKeepsResult(t *testing.T) {
	t.Parallel()
	f := func() (err error) {
		defer osfile.Catch(osfile.Arm(), &err)
		return io.EOF
	}
	if err := f(); err != io.EOF {
		t.Errorf("got %v", err)
	}
	done := make(chan error)
	go func() {
		err := io.EOF
		defer func() { done <- err }()
		defer osfile.Catch(osfile.Arm(), &err)
		runtime.Goexit()
	}()
	if err := <-done; err != io.EOF {
		t.Errorf("after Goexit: %v", err)
	}
}

// Guards nest, and each restores the earlier setting, after a fault too.
func TestCatchRestores(t *testing.T) {
	t.Parallel()
	_, m := mapped(t, 1, 2*page)
	for _, off := range []int64{0, page} {
		err := guard(func() {
			_, inner := byteAt(m, off)
			if fault := errors.Is(inner, osfile.ErrFault); fault != (off == page) {
				t.Errorf("inner guard at %d: %v", off, inner)
			}
			if !debug.SetPanicOnFault(true) {
				t.Errorf("the inner guard disarmed the outer one")
			}
			copy(make([]byte, 1), m.Bytes()[page:])
		})
		if off == page && err == nil {
			t.Error("the outer guard caught nothing")
		}
		if debug.SetPanicOnFault(false) {
			t.Error("the guard stayed armed")
		}
	}
}

func TestGuardAllocatesNothing(t *testing.T) {
	_, m := mapped(t, 1, page)
	if n := testing.AllocsPerRun(100, func() {
		if _, err := byteAt(m, 7); err != nil {
			t.Error(err)
		}
	}); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

func BenchmarkGuard(b *testing.B) {
	_, m := mapped(b, 1, page)
	b.Run("guarded", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			_, _ = byteAt(m, 7)
		}
	})
	b.Run("bare", func(b *testing.B) {
		for b.Loop() {
			_ = bareAt(m, 7)
		}
	})
}

//go:noinline
func bareAt(m *osfile.Mapping, off int64) byte { return m.Bytes()[off] }
