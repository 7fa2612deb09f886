package serve

import (
	"cmp"
	"context"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/foliofs/folio"
)

// A Link is a link to share, as a list shows it. Its token is not in the list, because the volume
// keeps only a sum of it.
type Link struct {
	ID       string    // the sum of the token
	Path     string    // in the volume: where the file or directory is, or where it was last
	Gone     bool      // the file was removed
	Upload   bool      // it is for uploads only
	Snapshot string    // the link shows this snapshot; "" means the volume as it is
	User     string    // who made it; "" if the server had no users
	Made     time.Time // when
	Expires  time.Time // when it ends
	MaxSize  int64     // bytes that may be uploaded in all; 0 means no limit
	Used     int64     // bytes of them that were uploaded

	share *share
}

// Expired reports whether the time of the link is over.
func (l *Link) Expired() bool { return !l.Expires.IsZero() && time.Now().After(l.Expires) }

// Links returns the links to share of a directory that is served, the newest first. dir is that
// directory of the volume, or "." for all of it.
func Links(ctx context.Context, vol *folio.Volume, dir string) ([]Link, error) {
	t := &tree{Source: Source{Dir: cleanDir(dir)}}
	snapshots := make(map[string]int64)
	list, err := vol.Snapshots(ctx)
	if err != nil && !errors.Is(err, errors.ErrUnsupported) {
		return nil, err
	}
	for _, s := range list {
		snapshots[s.Name] = s.ID
	}
	var links []Link
	err = vol.View(ctx, func(rx *folio.Rx) error {
		links, err = t.links(rx)
		if err != nil {
			return err
		}
		return t.locateAll(ctx, rx, links, snapshots)
	})
	slices.SortFunc(links, func(a, b Link) int { return cmp.Or(b.Made.Compare(a.Made), cmp.Compare(a.ID, b.ID)) })
	return links, err
}

var (
	errNoLink   = errors.New("there is no such link")
	errSeveral  = errors.New("the IDs of several links begin so")
	errShortID  = fmt.Errorf("an ID has at least %d digits", minLinkID)
	errLinkTree = errors.New("no links were made here")
)

// minLinkID is how many digits of an ID must be given: so many that a slip of the keyboard ends no
// other link.
const minLinkID = 8

// EndLink ends the link to share whose ID is id, or begins with id if no other one does. For
// example, the first 12 digits do. dir is the directory that is served, as for [Links].
func EndLink(tx *folio.Tx, dir, id string) error {
	t := &tree{Source: Source{Dir: cleanDir(dir)}}
	if len(id) < minLinkID {
		return errShortID
	}
	list, err := tx.ReadDir(t.own(shareDir))
	if isMissing(err) {
		return errLinkTree
	}
	if err != nil {
		return err
	}
	record := ""
	for _, e := range list {
		switch _, ok := linkID(e.Name()); {
		case !ok || !strings.HasPrefix(e.Name(), id):
		case record != "":
			return errSeveral
		default:
			record = e.Name()
		}
	}
	if record == "" {
		return errNoLink
	}
	return tx.Remove(t.own(shareDir, record))
}

// linkID returns the ID in the name of a record.
func linkID(name string) (id string, ok bool) {
	id, ok = strings.CutSuffix(name, ".json")
	_, err := hex.DecodeString(id)
	return id, ok && err == nil && len(id) == 64
}

// links returns all links of a tree as their records have them. A record that cannot be read opens
// nothing, and is left out.
func (t *tree) links(rx *folio.Rx) (links []Link, err error) {
	list, err := rx.ReadDir(t.own(shareDir))
	if isMissing(err) {
		return nil, nil
	}
	for _, e := range list {
		id, ok := linkID(e.Name())
		if !ok {
			continue
		}
		s := &share{record: t.own(shareDir, e.Name())}
		if err := s.read(rx); err != nil {
			continue
		}
		links = append(links, Link{
			ID: id, Path: string(s.Path), Upload: s.Upload, Snapshot: s.Snapshot, User: s.User, Made: s.Made, Expires: s.Expires,
			MaxSize: s.MaxSize, Used: s.Used, share: s,
		})
	}
	return links, err
}

// read reads the record of a share.
func (s *share) read(rx *folio.Rx) error {
	text, err := rx.ReadFile(s.record)
	if err != nil {
		return err
	}
	return json.Unmarshal(text, s)
}

// locateAll finds where links lead now. It looks for all that have moved by one walk.
func (t *tree) locateAll(ctx context.Context, rx *folio.Rx, links []Link, snapshots map[string]int64) error {
	moved := make(map[uint64]bool)
	for i := range links {
		l, in := &links[i], rx
		if l.Snapshot != "" {
			var err error
			if in, err = rx.At(l.Snapshot); err != nil || snapshots[l.Snapshot] != l.share.SnapshotID {
				l.Gone = true
				continue
			}
		}
		if _, ok := l.share.atLast(in); ok {
			continue
		}
		if l.Gone = true; l.Snapshot == "" {
			moved[l.share.Ino] = true
		}
	}
	if len(moved) == 0 {
		return nil
	}
	found, err := t.findInodes(ctx, rx, moved)
	for i := range links {
		if w := found[links[i].share.Ino]; w != nil && links[i].Gone && links[i].Snapshot == "" {
			links[i].Path, links[i].Gone = w.real, false
		}
	}
	return err
}
