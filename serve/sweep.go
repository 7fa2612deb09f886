package serve

import (
	"context"
	"path"
	"strings"
	"time"
)

// Times after which sweep removes what is left.
const (
	uploadKept = 7 * 24 * time.Hour // uploads that no client goes on with
	sweepEvery = time.Hour
)

// sweepAll removes from time to time what is not needed any more, until ctx is done.
func (s *site) sweepAll(ctx context.Context) {
	tick := time.NewTicker(sweepEvery)
	defer tick.Stop()
	for {
		for _, t := range s.trees {
			if !t.ReadOnly {
				s.sweep(ctx, t)
			}
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return
		}
	}
}

// sweep removes old removed files, and old uploads that are not complete.
func (s *site) sweep(ctx context.Context, t *tree) {
	o, err := t.acquire()
	if err != nil {
		return // requests say so
	}
	defer o.release()
	for dir, kept := range map[string]time.Duration{trashDir: s.options.Trash, uploadDir: uploadKept} {
		s.sweepDir(ctx, o, t, t.own(dir), kept)
	}
}

func (s *site) sweepDir(ctx context.Context, o *opened, t *tree, dir string, kept time.Duration) {
	list, err := o.ReadDir(dir)
	if err != nil {
		return // there is none
	}
	for _, e := range list {
		made, ok := idTime(e.Name()[:min(len(e.Name()), 33)])
		if !ok || time.Since(made) < kept || ctx.Err() != nil {
			continue
		}
		if err := t.removeOld(ctx, o, path.Join(dir, e.Name())); err != nil && s.options.Logger != nil {
			s.options.Logger.Warn("cannot remove an old file", "path", path.Join(dir, e.Name()), "error", err)
		}
	}
}

// removeOld removes a file of the server's own.
func (t *tree) removeOld(ctx context.Context, o *opened, name string) error {
	if path.Dir(name) != t.own(uploadDir) {
		return o.RemoveAll(name)
	}
	u := &upload{store: uploadStore{t}, id: strings.TrimSuffix(path.Base(name), ".info")}
	return o.Update(ctx, u.forget)
}
