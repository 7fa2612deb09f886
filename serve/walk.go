package serve

import (
	"context"
	"io"
	"io/fs"
	"path"

	"github.com/foliofs/folio"
	"github.com/foliofs/folio/internal/inoset"
)

// A walk goes through a directory in one view, and leaves out files that the user has no right to.
// A directory that comes a second time, as in a damaged volume, is passed over.
type walk struct {
	p     *place
	rx    *folio.Rx
	ctx   context.Context
	visit func(w *walked) error
	seen  inoset.Set
}

// A walked file is one that a walk visits.
type walked struct {
	real string // the path in the volume
	name string // the path below the directory where the walk began
	info fs.FileInfo
}

// walk calls visit for each file below a directory that resolve has found, directories first.
func (p *place) walk(ctx context.Context, rx *folio.Rx, real string, visit func(w *walked) error) error {
	return (&walk{p: p, rx: rx, ctx: ctx, visit: visit}).dir(real, "")
}

// walkNamed is walk for some entries of the directory that the place names.
func (p *place) walkNamed(ctx context.Context, rx *folio.Rx, names []string, visit func(w *walked) error) error {
	w := &walk{p: p, rx: rx, ctx: ctx, visit: visit}
	for _, name := range names {
		real, err := p.resolve(rx, path.Join(p.name, name), false, rightRead)
		if err != nil {
			return err
		}
		info, err := rx.Lstat(real)
		if err == nil {
			err = w.file(&walked{real, name, info})
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// dir visits the files in a directory. It enters an inode once only, because a directory of a
// damaged volume may be in itself.
func (w *walk) dir(real, name string) error {
	f, err := w.rx.Open(real)
	if err != nil {
		return err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil || !w.seen.Add(node(info).Ino) {
		return err
	}
	for {
		infos, err := f.Readdir(1000)
		for _, info := range infos {
			if err := w.file(&walked{path.Join(real, info.Name()), path.Join(name, info.Name()), info}); err != nil {
				return err
			}
		}
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
	}
}

// file visits a file if the user may read it, and then the files in it if it is a directory. A user
// who may only upload to a directory may be allowed to read another one in it.
func (w *walk) file(f *walked) error {
	at := w.p.access.at(w.p.shown(f.real))
	if f.info.Name() == private || at == rightNone {
		return nil
	}
	if err := w.ctx.Err(); err != nil {
		return err
	}
	if vol := w.p.vol; vol != nil && vol.gone.Load() { // it is nil if no server uses the volume
		return errReplaced // the new volume waits for this view
	}
	if at.allows(rightRead) {
		if err := w.visit(f); err != nil {
			return err
		}
	}
	if f.info.IsDir() {
		return w.dir(f.real, f.name)
	}
	return nil
}
