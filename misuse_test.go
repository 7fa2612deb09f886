package folio_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/foliofs/folio"
	"github.com/foliofs/folio/internal/must"
	"github.com/foliofs/folio/internal/private"
	"github.com/foliofs/folio/internal/volumetest"
)

// These tests call every exported method of the types that hold a volume, in each state that a
// program can bring them into by mistake. No call may panic or hang, and each must return the error
// that the documents promise.

// misuseTime is how long a call may take: longer than BusyTimeout of the volumes here.
const misuseTime = 20 * time.Second

// call calls a method with arguments of their types, and returns its errors. It reports a panic and
// a call that does not return.
func call(t *testing.T, v any, method string, argument func(reflect.Type) reflect.Value) (err error, hasError bool) {
	t.Helper()
	m := reflect.ValueOf(v).MethodByName(method)
	args := make([]reflect.Value, 0, m.Type().NumIn())
	for i := range m.Type().NumIn() {
		in := m.Type().In(i)
		if m.Type().IsVariadic() && i == m.Type().NumIn()-1 {
			in = in.Elem()
		}
		args = append(args, argument(in))
		if method == "BackupFile" && in.Kind() == reflect.String { // a file of the system
			args[i] = reflect.ValueOf(filepath.Join(t.TempDir(), "backup"))
		}
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		defer func() {
			if p := recover(); p != nil {
				t.Errorf("%T.%s panics: %v", v, method, p)
			}
		}()
		for _, result := range m.Call(args) {
			if e, ok := resultError(result); ok {
				err, hasError = e, true
			}
		}
	}()
	select {
	case <-done:
		return err, hasError
	case <-time.After(misuseTime):
		t.Errorf("%T.%s does not return", v, method)
		return nil, false
	}
}

// resultError returns a result as an error. If it is an iterator, that is the error that it yields.
func resultError(result reflect.Value) (err error, ok bool) {
	switch {
	case result.Type() == reflect.TypeFor[error]():
		err, _ = result.Interface().(error)
		return err, true
	case result.Kind() != reflect.Func:
		return nil, false
	}
	yield := result.Type().In(0)
	result.Call([]reflect.Value{reflect.MakeFunc(yield, func(args []reflect.Value) []reflect.Value {
		err, _ = args[1].Interface().(error)
		return []reflect.Value{reflect.ValueOf(err == nil)}
	})})
	return err, true
}

// sample returns an argument that a program might give: a nil one only where that is allowed.
func sample(t *testing.T, ctx context.Context) func(typ reflect.Type) reflect.Value {
	root, err := os.OpenRoot(t.TempDir())
	must.Do(t, err)
	t.Cleanup(func() { _ = root.Close() })
	known := map[reflect.Type]reflect.Value{
		reflect.TypeFor[string]():                   reflect.ValueOf("f"),
		reflect.TypeFor[context.Context]():          reflect.ValueOf(ctx),
		reflect.TypeFor[fs.FS]():                    reflect.ValueOf(fstest.MapFS{}),
		reflect.TypeFor[*os.Root]():                 reflect.ValueOf(root),
		reflect.TypeFor[*folio.Header]():            reflect.ValueOf(&folio.Header{Name: "g"}),
		reflect.TypeFor[*folio.Tx]():                reflect.ValueOf(new(folio.Tx)),
		reflect.TypeFor[[]byte]():                   reflect.ValueOf([]byte("content")),
		reflect.TypeFor[folio.PrunePolicy]():        reflect.ValueOf(folio.PrunePolicy{Last: 1}),
		reflect.TypeFor[func(rx *folio.Rx) error](): reflect.ValueOf(func(*folio.Rx) error { return nil }),
		reflect.TypeFor[func(tx *folio.Tx) error](): reflect.ValueOf(func(*folio.Tx) error { return nil }),
	}
	return func(typ reflect.Type) reflect.Value {
		if v, ok := known[typ]; ok {
			return v
		}
		if typ.Kind() == reflect.Interface {
			return reflect.ValueOf(bytes.NewBufferString("content")).Convert(typ)
		}
		return reflect.Zero(typ)
	}
}

// methods returns the names of all methods that are not for packages of this module alone.
func methods(v any) (names []string) {
	typ := reflect.TypeOf(v)
	for i := range typ.NumMethod() {
		m := typ.Method(i)
		if m.Type.NumIn() < 2 || m.Type.In(1) != reflect.TypeFor[private.Key]() {
			names = append(names, m.Name)
		}
	}
	return names
}

// misused makes a volume with a file, and an overlay.
func misused(t *testing.T) (*folio.Volume, *folio.Overlay) {
	t.Helper()
	v := volumetest.Memory(t, &folio.Options{BusyTimeout: 20 * time.Millisecond})
	must.Do(t, v.WriteFile("f", []byte("content"), 0o644), v.Mkdir("d", 0o755))
	o, err := folio.NewOverlay(fstest.MapFS{"f": {Data: []byte("content")}}, volumetest.Memory(t, nil), nil)
	must.Do(t, err)
	t.Cleanup(func() { _ = o.Close() })
	return v, o
}

func openF(t *testing.T, v interface {
	OpenFile(name string, flag int, perm fs.FileMode) (*folio.File, error)
},
) *folio.File {
	t.Helper()
	f, err := v.OpenFile("f", os.O_RDWR, 0)
	must.Do(t, err)
	t.Cleanup(func() { _ = f.Close() })
	return f
}

// TestMisuseClosed calls methods of values that are closed or ended, or that nothing has opened.
// All fail with fs.ErrClosed.
func TestMisuseClosed(t *testing.T) {
	t.Parallel()
	argument := sample(t, t.Context())
	for name, open := range map[string]func(t *testing.T) any{
		"zero Volume":  func(*testing.T) any { return new(folio.Volume) },
		"zero Root":    func(*testing.T) any { return new(folio.Root) },
		"zero File":    func(*testing.T) any { return new(folio.File) },
		"zero Rx":      func(*testing.T) any { return new(folio.Rx) },
		"zero Tx":      func(*testing.T) any { return new(folio.Tx) },
		"zero Overlay": func(*testing.T) any { return new(folio.Overlay) },
		"Volume": func(t *testing.T) any {
			v, _ := misused(t)
			must.Do(t, v.Close())
			return v
		},
		"Overlay": func(t *testing.T) any {
			_, o := misused(t)
			must.Do(t, o.Close())
			return o
		},
		"Root": func(t *testing.T) any {
			v, _ := misused(t)
			r, err := v.OpenRoot(".")
			must.Do(t, err, r.Close())
			return r
		},
		"Root of a closed Volume": func(t *testing.T) any {
			v, _ := misused(t)
			r, err := v.OpenRoot(".")
			must.Do(t, err, v.Close())
			return r
		},
		"File": func(t *testing.T) any {
			v, _ := misused(t)
			f := openF(t, v)
			must.Do(t, f.Close())
			return f
		},
		"File of a closed Volume": func(t *testing.T) any {
			v, _ := misused(t)
			f := openF(t, v)
			must.Do(t, v.Close())
			return f
		},
		"Rx": func(t *testing.T) (ended any) {
			v, _ := misused(t)
			must.Do(t, v.View(t.Context(), func(rx *folio.Rx) error { ended = rx; return nil }))
			return ended
		},
		"Tx": func(t *testing.T) (ended any) {
			v, _ := misused(t)
			must.Do(t, v.Update(t.Context(), func(tx *folio.Tx) error { ended = tx; return nil }))
			return ended
		},
		"File of an ended Tx": func(t *testing.T) (f any) {
			v, _ := misused(t)
			must.Do(t, v.Update(t.Context(), func(tx *folio.Tx) error { f = openF(t, tx); return nil }))
			return f
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for _, method := range methods(open(t)) {
				v := open(t)
				err, ok := call(t, v, method, argument)
				if method == "Close" || method == "Seek" { // is no error a second time; does not look at the volume
					continue
				}
				if ok && !errors.Is(err, fs.ErrClosed) {
					t.Errorf("%s: %v, want fs.ErrClosed", method, err)
				}
			}
		})
	}
}

// TestMisuseNil calls methods with one argument that is nil. Options may be nil. All else must be
// there, and the call fails with fs.ErrInvalid.
func TestMisuseNil(t *testing.T) {
	t.Parallel()
	v, o := misused(t)
	root, err := v.OpenRoot(".")
	must.Do(t, err)
	values := []any{v, o, root, openF(t, v)}
	for _, value := range values {
		misuseNil(t, value)
	}
	must.Do(t, v.View(t.Context(), func(rx *folio.Rx) error { misuseNil(t, rx); return nil }))
	undo := errors.New("undo")
	if err := v.Update(t.Context(), func(tx *folio.Tx) error { misuseNil(t, tx); return undo }); !errors.Is(err, undo) {
		t.Error(err)
	}
	bg := context.Background()
	var none context.Context
	path := filepath.Join(t.TempDir(), "new")
	for what, err := range map[string]error{
		"Create":             folio.Create(bg, path, nil, nil),
		"Create, context":    folio.Create(none, path, nil, func(*folio.Builder) error { return nil }),
		"ImportFS":           folio.ImportFS(bg, path, nil, nil),
		"RepairSchema":       must.Second(folio.RepairSchema(none, path)),
		"OpenReaderAt":       must.Second(folio.OpenReaderAt(nil, 4096, nil)),
		"NewOverlay, base":   must.Second(folio.NewOverlay(nil, v, nil)),
		"NewOverlay, volume": must.Second(folio.NewOverlay(fstest.MapFS{}, nil, nil)),
	} {
		if !errors.Is(err, fs.ErrInvalid) {
			t.Errorf("%s: %v, want fs.ErrInvalid", what, err)
		}
	}
}

func misuseNil(t *testing.T, v any) {
	t.Helper()
	full := sample(t, t.Context())
	for _, method := range methods(v) {
		m := reflect.ValueOf(v).MethodByName(method).Type()
		for i := range m.NumIn() {
			in := m.In(i)
			options := in.Kind() == reflect.Pointer && strings.HasSuffix(in.Elem().Name(), "Options")
			content := method == "Add" && in == reflect.TypeFor[io.Reader]() // of a directory, for example
			noContext := method == "WithContext"
			if k := in.Kind(); k != reflect.Interface && k != reflect.Func && k != reflect.Pointer || options || content || noContext {
				continue
			}
			err, _ := call(t, v, method, func(typ reflect.Type) reflect.Value {
				if typ == in {
					return reflect.Zero(typ)
				}
				return full(typ)
			})
			if !errors.Is(err, fs.ErrInvalid) {
				t.Errorf("%T.%s with a nil %v: %v, want fs.ErrInvalid", v, method, in, err)
			}
		}
	}
}

// TestMisuseWithin calls all methods of a Volume within the functions of View and Update. Close
// would wait there for itself, and fails with ErrBusy; so does each change within Update.
func TestMisuseWithin(t *testing.T) {
	t.Parallel()
	all := methods(new(folio.Volume))
	for _, method := range all {
		t.Run("View/"+method, func(t *testing.T) {
			t.Parallel()
			v, _ := misused(t)
			ctx, cancel := context.WithTimeout(t.Context(), 3*time.Second) // Changes goes on until then
			defer cancel()
			must.Do(t, v.View(t.Context(), func(rx *folio.Rx) error {
				err, _ := call(t, v, method, sample(t, ctx))
				if method == "Close" && !errors.Is(err, folio.ErrBusy) {
					t.Errorf("%v, want ErrBusy", err)
				}
				_, err = rx.ReadFile("f")
				return err
			}))
			_, err := v.Stat("d")
			if closed := method == "Close"; closed != errors.Is(err, fs.ErrClosed) {
				t.Error(err)
			}
		})
		t.Run("Update/"+method, func(t *testing.T) {
			t.Parallel()
			v, _ := misused(t)
			ctx, cancel := context.WithTimeout(t.Context(), 3*time.Second)
			defer cancel()
			must.Do(t, v.Update(t.Context(), func(*folio.Tx) error {
				err, _ := call(t, v, method, sample(t, ctx))
				if changes[method] && !errors.Is(err, folio.ErrBusy) {
					t.Errorf("%v, want ErrBusy", err)
				}
				return nil
			}))
			must.Do(t, must.Second(v.Stat("d")))
		})
	}
}

// changes are methods of a Volume that wait for a running Update, as sample calls them.
var changes = map[string]bool{
	"Close": true, "Compact": true, "CreateSnapshot": true, "Repair": true, "Restore": true, "Sync": true, "Update": true, "Merge": true,
	"Chmod": true, "Mkdir": true, "MkdirAll": true, "Remove": true, "RemoveAll": true, "Rename": true, "WriteFile": true, "WriteFrom": true,
	"RemoveSnapshot": true, "RemoveSnapshots": true, "SetXattr": true, "Link": true, "Symlink": true, "Clone": true, "Create": true,
}
