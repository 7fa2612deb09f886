package dav

import (
	"context"
	"io/fs"
	"path"
	"slices"
	"strings"
)

// maxLinks is how many symbolic links a path leads through at most.
const maxLinks = 40

// clean returns the one form of a path in which it is compared: with a slash at its start, and none
// at its end.
func clean(name string) string { return path.Clean("/" + name) }

// below reports whether a cleaned path leads to something in the directory dir, at whatever depth.
func below(name, dir string) bool {
	rest, ok := strings.CutPrefix(name, strings.TrimSuffix(dir, "/"))
	return ok && strings.HasPrefix(rest, "/") && name != dir
}

// places returns the cleaned paths in the volume of the file of a URL: without the symbolic links
// on the way, and without a link at its end. There are none if the request does not reach it.
func (f *FileSystem) places(ctx context.Context, in Lookuper, name string) (list []string) {
	for _, follow := range []bool{false, true} {
		if p, err := f.path(ctx, in, name, follow, false); err == nil {
			list = append(list, plainPath(in, clean(p), follow))
		}
	}
	return slices.Compact(list)
}

// ways returns the paths that must not change while a URL leads to its file: places, and the paths
// through each symbolic link on the way.
func (f *FileSystem) ways(ctx context.Context, in Lookuper, name string) []string {
	list := f.places(ctx, in, name)
	for dir := path.Dir(clean(name)); dir != "/"; dir = path.Dir(dir) {
		p, err := f.path(ctx, in, dir, false, false)
		if err == nil {
			p = plainPath(in, clean(p), false) + strings.TrimPrefix(clean(name), dir)
		}
		if err == nil && !slices.Contains(list, p) {
			list = append(list, p)
		}
	}
	return list
}

// plainPath returns the file that a cleaned path leads to, as far as the path exists. follow says
// that a symbolic link at its end stands for what it leads to.
func plainPath(in Lookuper, name string, follow bool) string {
	todo, done := strings.Split(name, "/"), "/"
	for links := 0; len(todo) > 0; {
		e := todo[0]
		todo = todo[1:]
		next := path.Join(done, e)
		if len(todo) == 0 && !follow {
			return next
		}
		info, err := in.Lstat(volumePath(next))
		to := ""
		if err == nil {
			if info.Mode()&fs.ModeSymlink == 0 {
				done = next
				continue
			}
			to, err = in.Readlink(volumePath(next))
		}
		if links++; err != nil || links > maxLinks || strings.HasPrefix(to, "/") {
			return path.Join(next, path.Join(todo...)) // the volume goes no further, either
		}
		todo = slices.Concat(strings.Split(to, "/"), todo)
	}
	return done
}

// A userKey is the key of the user in the context of a request.
type userKey struct{}

// WithUser returns the context of a request by a user who has logged in. Locks belong to the user
// who made them (RFC 4918, section 6.4): other users neither see their tokens nor can use them.
// Without this, and for the user "", a lock belongs to everybody who has not logged in.
func WithUser(ctx context.Context, user string) context.Context {
	return context.WithValue(ctx, userKey{}, user)
}

func userOf(ctx context.Context) string {
	user, _ := ctx.Value(userKey{}).(string)
	return user
}
