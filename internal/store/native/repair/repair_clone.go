package repair

import (
	"errors"

	"github.com/foliofs/folio/internal/store"
	"github.com/foliofs/folio/internal/store/native/rowstore"
	"github.com/foliofs/folio/sqlitefile"
)

// origins removes rows of table origin that cannot be, and shortens the rows that extend beyond the
// end of their file. No content is lost by it: such a row shows bytes that are not the file's.
func (r *repairer) origins() error {
	if !r.t.HasClones() {
		return nil
	}
	wrong := make(map[int64]error)
	err := r.rows(rowstore.OriginTable, func(row *sqlitefile.Row) error {
		ino := store.Ino(row.Rowid())
		o, err := rowstore.DecodeOrigin(row)
		if err == nil {
			err = r.seen.base(ino, o)
		}
		if n := r.seen.Find(ino); err == nil && (n == nil || !n.IsRegular()) {
			var dead bool
			if dead, err = r.seen.isDead(ino); err == nil && !dead {
				err = store.Damaged("inode %d shares content, and is no file", ino)
			}
		}
		if errors.Is(err, store.ErrDamaged) {
			wrong[row.Rowid()], err = err, nil
		}
		return err
	})
	if err != nil {
		return err
	}
	origins, err := r.t.Changing(rowstore.OriginTable)
	for ino, why := range wrong {
		if err != nil {
			return err
		}
		r.done(store.Ino(ino), "shares content no more", "%v", why)
		_, err = origins.Delete(ino)
	}
	return err
}

// descriptions makes the triggers and views that are missing.
func (r *repairer) descriptions() error {
	found := new(store.Report)
	if err := newChecker(r.ctx, &r.t.DB.Rx, found).described(); err != nil {
		return err
	}
	for _, p := range found.Problems {
		r.done(0, "made again", "%s", p.What)
	}
	if len(found.Problems) == 0 {
		return nil
	}
	if versionOf(&r.t.DB.Rx) == store.CloneVersion { // the tables of a volume with clones say so
		if err := r.t.DB.SetUserVersion(store.CloneVersion); err != nil {
			return err
		}
	}
	return r.t.SyncViews()
}
