package folio

import (
	"cmp"
	"context"
	"io/fs"
	"iter"
	"strings"

	"github.com/foliofs/folio/internal/diff"
	"github.com/foliofs/folio/internal/store"
)

// A Change is a difference of one name between two states of a volume.
type Change struct {
	Kind    ChangeKind
	Path    string // in the second state; of a file that was removed, in the first
	OldPath string // in the first state, if the file was moved
	Ino     uint64
	Type    fs.FileMode // the type bits, of the file in the state with Path
}

// A ChangeKind is a set of ways in which a file can differ. Made and Removed stand alone.
type ChangeKind uint8

// The kinds.
const (
	ChangeMade       ChangeKind = 1 << iota // only the second state has the name
	ChangeRemoved                           // only the first state has it
	ChangeMoved                             // the same file has another name, or is in another directory
	ChangeContent                           // it has another content
	ChangeAttributes                        // it has another mode, owner, time or extended attribute
)

// String returns the ways as words, for example "moved, content".
func (k ChangeKind) String() string {
	var words []string
	for i, word := range []string{"made", "removed", "moved", "content", "attributes"} {
		if k&(1<<i) != 0 {
			words = append(words, word)
		}
	}
	return strings.Join(words, ", ")
}

// Diff yields what differs between two states of the volume, each a snapshot, or "" for the volume
// as it is: in the order of their paths. A directory that was moved is one change, and so is each
// file in it that differs otherwise. Times of directories count for nothing, nor do those of access
// and of changes of the inode.
//
// Its time grows with the changes since the older of the states, and one pass over all names. An
// error is yielded once, last: ErrNoSnapshot, or that of the context.
func (v *Volume) Diff(ctx context.Context, from, to string) iter.Seq2[Change, error] {
	return func(yield func(Change, error) bool) {
		list, err := v.diff(ctx, from, to)
		for _, c := range list {
			if !yield(c, nil) {
				return
			}
		}
		if err != nil {
			yield(Change{}, err)
		}
	}
}

func (v *Volume) diff(ctx context.Context, from, to string) ([]Change, error) {
	s, err := v.snapshotter(ctx)
	if err != nil {
		return nil, v.volumeError("diff", err)
	}
	var found []diff.Change
	err = s.Compare(ctx, from, to, func(a, b store.Rx, all *store.Differences) (err error) {
		found, err = diff.Compare(ctx, a, b, all)
		return err
	})
	if err != nil {
		return nil, v.snapshotError("diff", cmp.Or(from, to), err)
	}
	list := make([]Change, len(found))
	for i, c := range found {
		list[i] = Change{Kind: ChangeKind(c.Kind), Path: c.Path, OldPath: c.Old, Ino: uint64(c.Ino), Type: fileMode(c.Mode).Type()}
	}
	return list, nil
}

var _ = [1]struct{}{}[ChangeAttributes-ChangeKind(diff.Attributes)] // the kinds have one order
