package folio

import (
	"context"
)

// A Root is a directory of a volume that no name leads out of, neither by ".." nor by a symbolic
// link. Names begin in that directory. It stays the same directory when it is moved. A Root has the
// methods of os.Root, and is safe for concurrent use.
type Root struct {
	reader
	writer
	*rootState       // nil for the root of a volume
	dir        *File // likewise
}

// OpenRoot opens a directory as a Root.
func (v *Volume) OpenRoot(name string) (*Root, error) { return openRoot(&v.reader, name, name) }

// OpenRoot opens a directory in r as a Root.
func (v *Root) OpenRoot(name string) (*Root, error) {
	full := name
	if v.rootState != nil {
		full = joinName(v.name, name)
	}
	return openRoot(&v.reader, name, full)
}

// WithContext returns the root directory as a Root whose calls end when ctx is done, with an error
// that matches ctx's. So do the calls of the files and Roots that it opens. It is for a volume on a
// server, or one that other processes write: a call of the Volume itself waits for them as long as
// BusyTimeout says. For example, an HTTP server reads by
//
//	data, err := vol.WithContext(r.Context()).ReadFile(name)
//
// An error of ctx means that nothing has happened. A change by such a Root shares no transaction
// with other goroutines, which is slower if many write at once. Close does nothing. A nil ctx ends
// no call.
func (v *Volume) WithContext(ctx context.Context) *Root { return withContext(&v.reader, nil, nil, ctx) }

// WithContext returns the same directory as a Root whose calls end when ctx is done, as
// [Volume.WithContext] says. Closing one of the two closes both.
func (v *Root) WithContext(ctx context.Context) *Root {
	return withContext(&v.reader, v.rootState, v.dir, ctx)
}

func withContext(from *reader, state *rootState, dir *File, ctx context.Context) *Root {
	r := &Root{rootState: state, dir: dir}
	r.reader = reader{fs: from.fs, top: from.top, root: state, ctx: ctx}
	r.writer = writer{from: &r.reader}
	return r
}

func openRoot(from *reader, name, full string) (*Root, error) {
	dir, err := from.Open(name)
	if err != nil {
		return nil, err
	}
	if !dir.isDir() {
		_ = dir.Close()
		return nil, pathError("open", full, ErrNotDirectory)
	}
	r := &Root{rootState: &rootState{name: full}, dir: dir}
	r.reader = reader{fs: from.fs, top: dir.ino, root: r.rootState, ctx: from.ctx}
	r.writer = writer{from: &r.reader}
	return r, nil
}

// Open opens a file for reading, or a directory.
func (v *Root) Open(name string) (*File, error) { return v.OpenFile(name, 0, 0) }

// Name returns the name that the directory was opened by, after the names of the Roots that it was
// opened in.
func (v *Root) Name() string {
	if v.rootState == nil {
		return "."
	}
	return v.name
}

// Close closes the directory. Files that were opened in it stay open. As with os.Root, closing
// again is no error.
func (v *Root) Close() error {
	if v.rootState == nil || v.closed.Swap(true) {
		return nil
	}
	return v.dir.Close()
}
