package serve

import (
	"net/http"
	"path"
	"strings"
	"time"

	"github.com/foliofs/folio"
)

// stillTime is how long an upload has not grown that makes way for new ones of the same user.
const stillTime = time.Hour

var errOpenUploads = &failure{
	status: http.StatusTooManyRequests, message: "Too many uploads are not complete. Go on with them, or give them up.", header: http.Header{"Retry-After": {"60"}},
}

// owner returns whom an upload counts for: a link, or a user.
func (r *uploadRecord) owner() string {
	if r.Link != "" {
		return "link " + r.Link
	}
	return "user " + r.User
}

// add counts a new upload in the transaction that makes it. If the owner has too many, idle ones
// are given up.
func (l *openUploads) add(tx *folio.Tx, u *upload) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if !l.read {
		if err := l.readAll(&tx.Rx, u.store); err != nil {
			return err
		}
	}
	owner := u.record.owner()
	all := l.ids[owner]
	if all == nil {
		all = make(map[string]bool)
		l.ids[owner] = all
	}
	if len(all) >= maxOpenUploads {
		if err := l.tidy(tx, u.store, owner); err != nil {
			return err
		}
	}
	if len(all) >= maxOpenUploads {
		return errOpenUploads
	}
	all[u.id] = true
	return nil
}

// tidy forgets uploads that are complete or gone, and gives up idle ones. The caller must hold mu.
func (l *openUploads) tidy(tx *folio.Tx, s uploadStore, owner string) error {
	all := l.ids[owner]
	for id := range all {
		u := &upload{store: s, id: id}
		err := u.load(&tx.Rx)
		if err != nil && !isMissing(err) {
			return err
		}
		if err == nil && !u.record.Done && u.record.owner() == owner {
			info, err := tx.Lstat(u.content())
			if err != nil {
				return err
			}
			if time.Since(info.ModTime()) < stillTime {
				continue
			}
			if err := u.forget(tx); err != nil {
				return err
			}
		}
		delete(all, id)
	}
	return nil
}

// readAll finds the uploads that there are. The caller must hold mu.
func (l *openUploads) readAll(rx *folio.Rx, s uploadStore) error {
	list, err := rx.ReadDir(s.tree.own(uploadDir))
	if err != nil && !isMissing(err) {
		return err
	}
	l.ids = make(map[string]map[string]bool)
	for _, e := range list {
		id, ok := strings.CutSuffix(path.Base(e.Name()), ".info")
		u := &upload{store: s, id: id}
		if !ok || u.load(rx) != nil || u.record.Done {
			continue // a record that cannot be read belongs to no user
		}
		owner := u.record.owner()
		if l.ids[owner] == nil {
			l.ids[owner] = make(map[string]bool)
		}
		l.ids[owner][id] = true
	}
	l.read = true
	return nil
}

// drop forgets an upload that is complete or gone.
func (l *openUploads) drop(u *upload) {
	l.mu.Lock()
	defer l.mu.Unlock()
	delete(l.ids[u.record.owner()], u.id)
	if len(l.ids[u.record.owner()]) == 0 {
		delete(l.ids, u.record.owner())
	}
}
