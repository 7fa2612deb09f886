package repair

import (
	"cmp"
	"context"
	"fmt"
	"time"

	"github.com/foliofs/folio/internal/store"
	"github.com/foliofs/folio/internal/store/native/history"
	"github.com/foliofs/folio/internal/store/native/rowstore"
	"github.com/foliofs/folio/sqlitefile"
)

// A repair keeps to these rules:
//
//	R1  Nothing is changed while the database itself is damaged, because its b-trees cannot be
//	    trusted.
//	R2  No byte of content and no extended attribute is removed. Inodes that cannot be reached get a
//	    name in lost+found.
//	R3  A number is corrected if all else agrees. A size that is possible, but too large for the
//	    stored content, is left as it is: to call the rest a hole would turn lost content into
//	    zeros. Only a file that could not be read at all gets such a hole, and the report says so.
//	R4  A Repair is one transaction, except for its changes of the schema, and a second Repair
//	    finds nothing to do.
//
// repairVolume repairs the volume in db by transactions of update.
func Run(ctx context.Context, db *sqlitefile.DB, update func(ctx context.Context, fn func(t *history.Tx) error) error) (*store.RepairReport, error) {
	r := &repairer{ctx: ctx, report: new(store.RepairReport), now: time.Now().UnixNano()}
	if err := repairText(ctx, db, r.report); err != nil {
		return nil, err
	}
	sound, whole, err := look(ctx, db, &r.report.Report) // R1
	if err != nil || !sound {
		return r.report, err
	}
	err = update(ctx, func(t *history.Tx) error { // R4
		if err := r.history(t); err != nil || whole { // a volume that cannot be written is refused all the same
			return err
		}
		return r.run(t)
	})
	if err == nil {
		err = makeViews(ctx, db, update, r.report)
	}
	return r.report, err
}

// repairText writes the tables and the view of a volume into its schema, if nothing but their rows
// there is damaged (R1).
func repairText(ctx context.Context, db *sqlitefile.DB, report *store.RepairReport) error {
	repairable := false
	err := db.View(ctx, func(rx *sqlitefile.Rx) error {
		found, err := findMalformed(rx)
		if err == nil && len(found) > 0 {
			repairable, err = sound(ctx, rx)
		}
		return err
	})
	if err == nil && repairable {
		report.Repairs, err = repairSchema(ctx, db)
	}
	return rowstore.Explain(err)
}

// look reports whether the database is sound, and whether all that is in the volume is, too. If
// it is, a Repair takes as little memory as a Check; if it is not, it takes some 150 bytes for
// each inode.
func look(ctx context.Context, db *sqlitefile.DB, report *store.Report) (sound, whole bool, err error) {
	err = db.View(ctx, func(rx *sqlitefile.Rx) error {
		if err := checkDatabase(ctx, rx, nil, report); err != nil || !report.OK() {
			return err
		}
		sound = true
		found := new(store.Report)
		c := newChecker(ctx, rx, found)
		err := cmp.Or(c.schema(), c.windows(), c.described())
		whole = found.OK()
		return err
	})
	return sound, whole, err
}

// A repairer puts a volume right, step by step.
type repairer struct {
	ctx    context.Context
	t      *history.Tx
	seen   *checker // the volume before this step
	report *store.RepairReport
	now    int64
	lost   store.Ino // lost+found, once it is needed

	miscounted map[store.Ino]bool // inodes with a wrong nlink
}

func (r *repairer) run(t *history.Tx) error {
	r.t, t.Writer.Cache.Off = t, true
	steps := []func() error{
		r.numbers, r.kinds, // so that all rows say something
		r.types, r.inodes, r.origins, r.sizes, // inodes, so that all entries can be judged
		r.entries, // so that they can be followed
		r.orphans, r.tree, r.nameless,
		r.descriptions,
		r.links, // after all steps that add or remove names
	}
	for i, step := range steps {
		r.seen = newChecker(r.ctx, &t.DB.Rx, new(store.Report))
		err := r.seen.survey()
		if i == 0 {
			r.noteLinks()
		}
		if err == nil {
			err = step()
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// noteLinks remembers which counts of links are wrong before anything is changed.
func (r *repairer) noteLinks() {
	r.miscounted = make(map[store.Ino]bool)
	for i := range r.seen.Nodes() {
		if n := &r.seen.Nodes()[i]; n.Nlink != n.Links() && !n.Mended {
			r.miscounted[n.Ino] = true
		}
	}
}

// done reports a repair.
func (r *repairer) done(ino store.Ino, done, what string, args ...any) {
	if len(r.report.Repairs) == store.MaxProblems {
		r.report.More++
		return
	}
	p := store.Problem{Ino: ino, What: fmt.Sprintf(what, args...)}
	r.report.Repairs = append(r.report.Repairs, store.Repair{Problem: p, Done: done})
}

// rows calls fn with each row of a table, which must not change meanwhile.
func (r *repairer) rows(table int, fn func(row *sqlitefile.Row) error) error {
	t, err := r.t.Table(table)
	if err != nil {
		return err
	}
	for row, err := range t.All() {
		if err == nil {
			err = fn(&row)
		}
		if err == nil {
			err = r.seen.alive()
		}
		if err != nil {
			return err
		}
	}
	return nil
}
