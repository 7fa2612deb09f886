package sqlitefile

import (
	"bytes"

	"github.com/foliofs/folio/internal/format"
	"github.com/foliofs/folio/internal/record"
)

// A entryOrder reads the entries of an index, or the rows of a table WITHOUT ROWID, one after
// another and checks that they ascend.
type entryOrder struct {
	c      *checker
	key    []record.KeyColumn
	unique int // no two entries have the same values in so many first columns, unless one of them is NULL; 0 if they may
	wanted func(field int, t format.SerialType) bool

	contents [2]contents // of the current entry and the one before, in turn
	turn     int
	any      bool // there is one before
	cut      bool // some were too long to compare
}

// next reads an entry. It is not ok if it is malformed, which has been a problem, or too long to
// compare.
func (k *entryOrder) next(p *storedPayload) (values []record.Value, ok bool, err error) {
	r := &k.contents[k.turn]
	if ok, err := r.read(p, k.wanted); !ok {
		return nil, false, err
	}
	if r.cut {
		k.any, k.cut = false, true
		return nil, false, nil
	}
	if len(r.values) < len(k.key) {
		return nil, false, k.c.problemf(p.page, "an entry has %d values, fewer than its key of %d", len(r.values), len(k.key))
	}
	if k.any {
		err = k.check(p.page, k.contents[1-k.turn].values, r.values)
	}
	k.turn, k.any = 1-k.turn, true
	return r.values, true, err
}

// check checks entry b against the one before it.
func (k *entryOrder) check(pgno uint32, a, b []record.Value) error {
	equal, order := k.compare(a, b)
	switch {
	case order > 0:
		return k.c.problemf(pgno, "an entry is out of order: %s comes after %s", describe(b[equal]), describe(a[equal]))
	case equal == len(k.key):
		return k.c.problem(pgno, "the same entry twice")
	case k.unique > 0 && equal >= k.unique && !anyNull(b[:k.unique]):
		return k.c.problemf(pgno, "the same key twice: %s", describe(b[0]))
	}
	return nil
}

// compare returns how many first columns of a and b are equal, and the order of the next; 0 if that
// is not known.
func (k *entryOrder) compare(a, b []record.Value) (equal, order int) {
	for i, col := range k.key {
		if order := compareChecked(&a[i], &b[i], col.Collation); order != 0 {
			if col.Desc {
				order = -order
			}
			return i, order
		}
		if col.Collation == record.UnknownCollation && !bytes.Equal(a[i].Bytes(), b[i].Bytes()) {
			return i, 0
		}
	}
	return len(k.key), 0
}

// compareChecked is compare that takes texts in an unknown collation for equal.
func compareChecked(a, b *record.Value, c record.Collation) int {
	if c == record.UnknownCollation && a.Kind() == record.Text && b.Kind() == record.Text {
		return 0
	}
	return record.Compare(a, b, c)
}

func anyNull(values []record.Value) bool {
	for i := range values {
		if values[i].Kind() == record.Null {
			return true
		}
	}
	return false
}

// describe formats a value for a problem; long ones are cut.
func describe(v record.Value) string {
	const most = 40
	cut := v
	if len(v.Bytes()) > most {
		cut = v.Cut(most)
		return cut.String() + "..."
	}
	return cut.String()
}
