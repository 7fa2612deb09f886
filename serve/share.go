package serve

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io/fs"
	"net/http"
	"net/url"
	"path"
	"strings"
	"time"

	"github.com/foliofs/folio"
)

// A share is a link that lets whoever has it read a file or a directory, or upload into one. It is
// bound to the inode: if the name comes to mean another file, the link does not show it, and if the
// file gets another name, the link follows.
//
// Its record is a file in the private directory of the tree. That file is made after the inode that
// it names, so that it has a greater number. The volume gives out numbers above all that are in
// use, so none has the inode's again as long as the record is there.
type share struct {
	Path       []byte    `json:"path"` // where the inode was last, in the volume
	Ino        uint64    `json:"ino"`
	Snapshot   string    `json:"snapshot,omitempty"`
	SnapshotID int64     `json:"snapshotID,omitempty"` // another one may get its name
	Upload     bool      `json:"upload,omitempty"`     // upload only
	Expires    time.Time `json:"expires,omitzero"`
	MaxSize    int64     `json:"maxSize,omitempty"` // bytes that may be uploaded in all
	Used       int64     `json:"used,omitempty"`    // bytes that were
	User       string    `json:"user,omitempty"`
	Made       time.Time `json:"made"`

	record string // path of its record in the volume
}

// Limits of shares.
const (
	shareTime    = 7 * 24 * time.Hour // if the request does not say
	maxShareTime = 10 * 365 * 24 * time.Hour
	maxShareBody = 64 << 10
	maxLocate    = 1_000_000 // files that are looked at to find a shared one again
)

var (
	errGone      = refuse(http.StatusGone, "This link has expired, or what it led to is no longer there.")
	errShare     = refuse(http.StatusBadRequest, "The request does not describe a share.")
	errShareFull = refuse(http.StatusRequestEntityTooLarge, "More than this link allows has been uploaded.")
)

// recordOf returns the path of the record of a share. The volume keeps only a sum of the token, so
// that its readers cannot use the links.
func (t *tree) recordOf(token string) string {
	sum := sha256.Sum256([]byte(token))
	return t.own(shareDir, hex.EncodeToString(sum[:])+".json")
}

// findShare makes a place of what a link leads to.
func (c *call) findShare(p *place, target string) (*place, error) {
	token, rest, _ := strings.Cut(target, "/")
	for _, t := range c.s.trees {
		o, err := t.acquire()
		if err != nil {
			return nil, err
		}
		err = o.View(c.r.Context(), func(rx *folio.Rx) error { return p.openShare(c.r.Context(), rx, t, token) })
		if err == nil && p.share.Snapshot != "" && c.snapshotID(o, p.share.Snapshot) != p.share.SnapshotID {
			err = errGone
		}
		if err == nil {
			p.tree, p.vol = t, o
			p.root = c.s.base + sharePath + url.PathEscape(token)
			if rest = strings.Trim(rest, "/"); rest != "" && (p.single == "" || rest == p.single) {
				p.name = rest // a file that has another name now is found under that
			}
			return p, nil
		}
		o.release()
		if !isMissing(err) {
			return nil, err
		}
	}
	return nil, fs.ErrNotExist
}

// snapshotID returns the ID of a snapshot, and 0 if there is none.
func (c *call) snapshotID(o *opened, name string) int64 {
	list, _ := o.Snapshots(c.r.Context()) // an error means that it cannot be shown
	for _, s := range list {
		if s.Name == name {
			return s.ID
		}
	}
	return 0
}

// openShare reads the record of a share, and finds its inode.
func (p *place) openShare(ctx context.Context, rx *folio.Rx, t *tree, token string) error {
	s := &share{record: t.recordOf(token)}
	text, err := rx.ReadFile(s.record)
	if err != nil {
		return err
	}
	if err := json.Unmarshal(text, s); err != nil {
		return err
	}
	if !s.Expires.IsZero() && time.Now().After(s.Expires) {
		return errGone
	}
	if s.Snapshot != "" {
		if rx, err = rx.At(s.Snapshot); errors.Is(err, folio.ErrNoSnapshot) {
			return errGone
		} else if err != nil {
			return err
		}
	}
	real, info, err := s.locate(ctx, rx, t)
	if err != nil {
		return err
	}
	p.share, p.snapshot = s, s.Snapshot
	p.access = &access{most: rightRead, bound: true, within: strings.TrimSuffix(t.shown(real), "/")}
	if s.Upload {
		p.access.most = rightUpload
	}
	if p.within = real; !info.IsDir() {
		p.within, p.single = path.Dir(real), path.Base(real)
	}
	return nil
}

// locate finds the inode of a share: at its last name, or by a walk.
func (s *share) locate(ctx context.Context, rx *folio.Rx, t *tree) (real string, info fs.FileInfo, err error) {
	real = string(s.Path)
	if info, err = rx.Lstat(real); err == nil && node(info).Ino == s.Ino {
		return real, info, nil
	}
	n := 0
	all := &place{tree: t, within: t.Dir, access: &access{most: rightRead}}
	errFound := errors.New("found")
	err = all.walk(ctx, rx, t.Dir, func(w *walked) error {
		if n++; n > maxLocate {
			return errGone
		}
		if node(w.info).Ino != s.Ino {
			return nil
		}
		real, info = w.real, w.info
		return errFound
	})
	switch err {
	case errFound:
		return real, info, nil
	case nil:
		return "", nil, errGone
	}
	return "", nil, err
}

// account counts the bytes of an upload against the size of the share that it comes by.
func (p *place) account(tx *folio.Tx, size int64) error {
	if p.share == nil || p.share.MaxSize == 0 {
		return nil
	}
	text, err := tx.ReadFile(p.share.record)
	if err != nil {
		return err
	}
	s := share{}
	if err := json.Unmarshal(text, &s); err != nil {
		return err
	}
	if s.Used += size; s.Used > s.MaxSize {
		return errShareFull
	}
	return s.save(tx, p.share.record)
}

func (s *share) save(tx *folio.Tx, record string) error {
	text, err := json.Marshal(s)
	if err != nil {
		return err
	}
	return tx.WriteFile(record, text, 0o600)
}

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
func (c *call) makeShare() error {
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
	err = c.update(p, func(tx *folio.Tx) error {
		name, err = c.recordShare(p, tx, &q, id, token)
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

// newToken returns a text that nobody can guess.
func newToken() string {
	var b [24]byte
	_, _ = rand.Read(b[:]) // it never fails
	return base64.RawURLEncoding.EncodeToString(b[:])
}

// findIn finds a path from the URL of a tree. The caller must release the place.
func (c *call) findIn(root, name string) (*place, error) {
	root, err := url.PathUnescape(root)
	if err != nil || root != "" && !covers(c.s.base, root) {
		return nil, errTarget
	}
	target := strings.TrimSuffix(strings.TrimPrefix(root, c.s.base), "/") + "/" + name
	if err := checkTarget(&url.URL{Path: target}); err != nil {
		return nil, errTarget
	}
	return c.find(target)
}

// recordShare writes the record of a new share. It returns the end of its URL, which a file has.
func (c *call) recordShare(p *place, tx *folio.Tx, q *shareRequest, id int64, token string) (name string, err error) {
	s := &share{Snapshot: p.snapshot, SnapshotID: id, Upload: q.Write, MaxSize: q.MaxSize, User: c.user, Made: time.Now().UTC()}
	life := time.Duration(q.Expires) * time.Second
	if q.Expires == 0 {
		life = shareTime
	}
	if q.Expires > int64(maxShareTime/time.Second) {
		return "", errShare
	}
	s.Expires = s.Made.Add(life)
	var in *folio.Rx = &tx.Rx
	if p.snapshot != "" {
		if in, err = tx.At(p.snapshot); err != nil {
			return "", err
		}
	}
	real, info, err := p.lookup(in, p.name, true, rightWrite)
	switch {
	case err != nil:
		return "", err
	case info == nil:
		return "", fs.ErrNotExist
	case q.Write && (!info.IsDir() || p.snapshot != ""):
		return "", errShare
	}
	s.Path, s.Ino = []byte(real), node(info).Ino
	if err := tx.MkdirAll(p.tree.own(shareDir), 0o700); err != nil {
		return "", err
	}
	if !info.IsDir() {
		name = url.PathEscape(path.Base(real))
	}
	return name, s.save(tx, p.tree.recordOf(token))
}

// removeShare answers DELETE of a link, by a user who may write what it leads to.
func (c *call) removeShare(p *place) error {
	real := path.Join(p.within, p.single)
	if err := c.access().check(p.shown(real), rightWrite); err != nil {
		return err
	}
	if p.tree.ReadOnly {
		return errServedRead
	}
	if err := c.update(p, func(tx *folio.Tx) error { return tx.Remove(p.share.record) }); err != nil {
		return err
	}
	c.created(false)
	return nil
}
