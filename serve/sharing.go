package serve

import (
	"crypto/rand"
	"encoding/base64"
	"encoding/json"
	"io/fs"
	"net/http"
	"net/url"
	"path"
	"time"

	"github.com/foliofs/folio"
)

// A shareRequest is the body of a request for a share.
type shareRequest struct {
	Root     string `json:"root"` // the URL of the tree, as pages have it
	Path     string `json:"path"` // from there
	Write    bool   `json:"write"`
	Snapshot string `json:"snapshot"`
	Expires  int64  `json:"expires"` // seconds from now; 0 means shareTime
	MaxSize  int64  `json:"maxSize"` // bytes; 0 means no limit
}

// makeShare answers POST to the URL of shares.
func makeShare(c *call) error {
	if c.r.Method != http.MethodPost {
		return errMethod
	}
	var q shareRequest
	if err := json.NewDecoder(http.MaxBytesReader(c.w, c.r.Body, maxShareBody)).Decode(&q); err != nil || q.Expires < 0 || q.MaxSize < 0 {
		return errShare
	}
	p, err := c.findIn(q.Root, q.Path)
	if err != nil {
		return err
	}
	defer p.release()
	if q.Snapshot != "" {
		p.snapshot = q.Snapshot
	}
	if p.tree == nil || p.tree.ReadOnly || p.share != nil {
		return errServedRead
	}
	token, name := newToken(), ""
	id := c.snapshotID(p.vol, p.snapshot)
	ch := &change{call: c, p: p}
	err = ch.update(func(tx *folio.Tx) error {
		name, err = ch.recordShare(tx, &q, id, token)
		return err
	})
	if err != nil {
		return err
	}
	c.w.Header().Set("Content-Type", "application/json")
	c.w.Header().Set("Cache-Control", "no-store")
	c.w.WriteHeader(http.StatusCreated)
	return json.NewEncoder(c.w).Encode(map[string]string{"url": c.s.base + sharePath + token + "/" + name})
}

// newToken returns a text that cannot be guessed.
func newToken() string {
	var b [24]byte
	_, _ = rand.Read(b[:]) // it never fails
	return base64.RawURLEncoding.EncodeToString(b[:])
}

// mayShare refuses one more link of a user who has too many already. Expired links do not count.
func (c *change) mayShare(rx *folio.Rx) error {
	all, err := c.p.tree.links(rx)
	n := 0
	for i := range all {
		if all[i].User == c.user && !all[i].Expired() {
			n++
		}
	}
	if err == nil && n >= maxUserLinks {
		return errLinks
	}
	return err
}

// recordShare writes the record of a new share. It returns the end of its URL, which a file has.
func (c *change) recordShare(tx *folio.Tx, q *shareRequest, id int64, token string) (name string, err error) {
	s := &share{Snapshot: c.p.snapshot, SnapshotID: id, Upload: q.Write, MaxSize: q.MaxSize, User: c.user, Made: time.Now().UTC()}
	life := time.Duration(q.Expires) * time.Second
	if q.Expires == 0 {
		life = shareTime
	}
	if q.Expires > int64(maxShareTime/time.Second) {
		return "", errShare
	}
	s.Expires = s.Made.Add(life)
	if err := c.mayShare(&tx.Rx); err != nil {
		return "", err
	}
	var in *folio.Rx = &tx.Rx
	if c.p.snapshot != "" {
		if in, err = tx.At(c.p.snapshot); err != nil {
			return "", err
		}
	}
	real, info, err := c.p.lookup(in, c.p.name, true, rightWrite)
	switch {
	case err != nil:
		return "", err
	case info == nil:
		return "", fs.ErrNotExist
	case q.Write && (!info.IsDir() || c.p.snapshot != ""):
		return "", errShare
	}
	s.Path, s.Ino = []byte(real), node(info).Ino
	if err := tx.MkdirAll(c.p.tree.own(shareDir), 0o700); err != nil {
		return "", err
	}
	if !info.IsDir() {
		name = url.PathEscape(path.Base(real))
	}
	return name, s.save(tx, c.p.tree.recordOf(token))
}

// removeShare answers DELETE of a link.
func (c *change) removeShare() error {
	err := c.endShare(c.p.share, path.Join(c.p.within, c.p.single))
	if err == nil {
		c.created(false)
	}
	return err
}

// mayEnd refuses to end a link, or to show it in a list, unless the user made it or may write what
// it leads to.
func (c *call) mayEnd(s *share, t *tree, real string) error {
	if c.user != "" && c.user == s.User {
		return nil
	}
	return c.access().check(t.shown(real), rightWrite)
}

// endShare removes the record of a share that leads to a path in the volume.
func (c *change) endShare(s *share, real string) error {
	if err := c.mayEnd(s, c.p.tree, real); err != nil {
		return err
	}
	if c.p.tree.ReadOnly {
		return errServedRead
	}
	return c.update(func(tx *folio.Tx) error { return tx.Remove(s.record) })
}
