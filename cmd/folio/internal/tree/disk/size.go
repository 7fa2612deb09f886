package disk

import (
	"context"

	"github.com/foliofs/folio/cmd/folio/internal/tree"
)

// maxMeasured is how deep a tree may be for its size to be worth knowing in advance.
const maxMeasured = 64

// Size adds up the sizes of all files. It sees the tree at another moment than Walk.
func (t *Tree) Size(ctx context.Context) (bytes int64, ok bool) {
	m := measure{o: t.o, seen: make(map[tree.FileID]bool)}
	ok = m.file(ctx, t.dir, t.name, 0)
	return m.bytes, ok
}

type measure struct {
	o     *tree.Options
	seen  map[tree.FileID]bool // files with several links
	bytes int64
}

func (m *measure) directory(ctx context.Context, dir *dirHandle, depth int) bool {
	if depth > maxMeasured || ctx.Err() != nil {
		return false
	}
	here, err := dir.stat()
	if err != nil {
		return false
	}
	names, err := dir.list()
	if err != nil {
		return false
	}
	for _, name := range names {
		if m.o.Skip != nil && m.o.Skip(here.id, name) {
			continue
		}
		if !m.file(ctx, dir, name, depth) {
			return false
		}
	}
	return true
}

func (m *measure) file(ctx context.Context, dir *dirHandle, name string, depth int) bool {
	st, err := dir.lstat(name)
	switch {
	case err != nil:
		return false
	case st.mode.IsDir():
		sub, _, err := dir.openDir(name)
		if err != nil {
			return false
		}
		defer sub.release()
		return m.directory(ctx, sub, depth+1)
	case !st.mode.IsRegular() || m.seen[st.id]:
		return true
	}
	if st.links > 1 && !m.o.Copies {
		m.seen[st.id] = true
	}
	m.bytes += st.size
	return true
}
