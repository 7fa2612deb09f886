package dav

import (
	"context"
	"io/fs"
	"path"

	"github.com/foliofs/folio"
)

// A Lookuper reads names: a volume, or a transaction in it.
type Lookuper interface {
	Lstat(name string) (fs.FileInfo, error)
	Readlink(name string) (string, error)
}

// A Scope says which files a request reaches, for a server that gives each user other rights.
// Without one, a request reaches all files of the volume.
type Scope interface {
	// Path returns the path in the volume for a name: the path of a URL after the prefix. It must
	// return a *fs.PathError for a file that the request does not reach. If follow is set, a
	// symbolic link at the end of the name is followed. change says that the request will change
	// the file, so that a right to read is not enough.
	Path(in Lookuper, name string, follow, change bool) (string, error)
	// Shows reports whether a listing contains the file.
	Shows(in Lookuper, name string) bool
}

// A Remover is a Scope that removes files in a way of its own, for example to a trash. The name is
// the path in the volume.
type Remover interface {
	Remove(tx *folio.Tx, name string) error
}

// An Allower is a Scope that can refuse a change, for example because a link to share has ended.
// The Handler calls Allow in the transaction that makes the change, and for an upload also before
// it reads the content. An error may be a *Refusal.
type Allower interface {
	Allow(in Lookuper) error
}

// A scopeKey is the key of the Scope in the context of a request that has one.
type scopeKey struct{}

// WithScope returns the context of a request that reaches only the files of a scope.
func WithScope(ctx context.Context, s Scope) context.Context {
	return context.WithValue(ctx, scopeKey{}, s)
}

func scopeOf(ctx context.Context) Scope {
	s, _ := ctx.Value(scopeKey{}).(Scope)
	return s
}

// path returns the path in the volume of a name.
func (f *FileSystem) path(ctx context.Context, t Lookuper, name string, follow, change bool) (string, error) {
	if s := scopeOf(ctx); s != nil {
		return s.Path(t, name, follow, change)
	}
	return path.Join(f.dir, volumePath(name)), nil
}

// shown returns the entries of a directory that the request reaches.
func shown(ctx context.Context, t tree, dir string, list []fs.FileInfo) []fs.FileInfo {
	s := scopeOf(ctx)
	if s == nil {
		return list
	}
	kept := list[:0]
	for _, info := range list {
		if s.Shows(t, path.Join(dir, info.Name())) {
			kept = append(kept, info)
		}
	}
	return kept
}
