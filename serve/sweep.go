package serve

import (
	"context"
	"encoding/json"
	"path"
	"strings"
	"time"

	"github.com/foliofs/folio"
)

// Times after which sweep removes leftovers.
const (
	uploadKept = 7 * 24 * time.Hour // uploads that no client goes on with
	doneKept   = time.Hour          // records of complete uploads, for clients that did not get the answer
	linkKept   = 7 * 24 * time.Hour // links that have expired: until then they say so
	sweepEvery = time.Hour
)

// sweepAll removes old uploads, temporary files and trash from time to time, until ctx is done.
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

// sweep removes old removed files, old uploads that are not complete, and links that have expired.
func (s *site) sweep(ctx context.Context, t *tree) {
	o, err := t.acquire()
	if err != nil {
		return // requests say so
	}
	defer o.release()
	for dir, kept := range map[string]time.Duration{trashDir: s.options.Trash, uploadDir: uploadKept} {
		s.sweepDir(ctx, o, t, t.own(dir), kept)
	}
	s.sweepLinks(ctx, o, t)
}

// sweepLinks removes the records of links that have expired long ago.
func (s *site) sweepLinks(ctx context.Context, o *opened, t *tree) {
	var links []Link
	err := o.View(ctx, func(rx *folio.Rx) (err error) {
		links, err = t.links(rx)
		return err
	})
	for _, l := range links {
		if !l.Expires.IsZero() && time.Since(l.Expires) > linkKept && err == nil {
			err = o.Remove(l.share.record)
		}
	}
	if err != nil && ctx.Err() == nil {
		s.notices.Warn("cannot remove an old link", "path", t.own(shareDir), "error", err)
	}
}

// sweepDir removes the uploads or removed files in dir that have been kept for long enough, and
// records of uploads that have long been complete. Names begin with the time when they were made.
// It passes over all other names.
func (s *site) sweepDir(ctx context.Context, o *opened, t *tree, dir string, kept time.Duration) {
	list, err := o.ReadDir(dir)
	if err != nil {
		return // there is none
	}
	for _, e := range list {
		made, ok := idTime(e.Name()[:min(len(e.Name()), 33)])
		if !ok || ctx.Err() != nil || time.Since(made) < kept && !t.isDone(o, path.Join(dir, e.Name())) {
			continue
		}
		if err := t.removeOld(ctx, o, path.Join(dir, e.Name())); err != nil {
			s.notices.Warn("cannot remove an old file", "path", path.Join(dir, e.Name()), "error", err)
		}
	}
}

// isDone reports whether a file is the record of an upload that has been complete for long.
func (t *tree) isDone(o *opened, name string) bool {
	if path.Ext(name) != ".info" {
		return false
	}
	info, err := o.Lstat(name)
	if err != nil || time.Since(info.ModTime()) < doneKept {
		return false
	}
	var r uploadRecord
	text, err := o.ReadFile(name)
	return err == nil && json.Unmarshal(text, &r) == nil && r.Done
}

// removeOld removes a file of the server's own.
func (t *tree) removeOld(ctx context.Context, o *opened, name string) error {
	if path.Dir(name) != t.own(uploadDir) {
		return o.RemoveAll(name)
	}
	u := &upload{store: uploadStore{t}, id: strings.TrimSuffix(path.Base(name), ".info")}
	return o.Update(ctx, u.forget)
}
