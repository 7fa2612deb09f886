package sqlitefile

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/foliofs/folio/internal/must"
)

// TestLocate looks rows up before it adds, replaces or deletes them or others, as whoever writes
// does, in tables with and without rowids. What is done next must happen in the right place,
// whatever was found and whatever happened in between.
func TestLocate(t *testing.T) {
	t.Parallel()
	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %d", seed)
	db := open(t, t.TempDir()+"/db", &Options{Create: true, PageSize: 512, Durability: DurabilityOff})
	must.Do(t, db.Exec(t.Context(), "CREATE TABLE a (k INTEGER PRIMARY KEY, v)"))
	must.Do(t, db.Exec(t.Context(), "CREATE TABLE b (k TEXT PRIMARY KEY, v) WITHOUT ROWID"))
	l := locator{r: rand.New(rand.NewPCG(seed, 0)), want: make(map[int64]int64)}
	for range 300 {
		update(t, db, func(tx *Tx) (err error) {
			if l.a, err = tx.Table("a"); err != nil {
				return err
			}
			if l.b, err = tx.Table("b"); err != nil {
				return err
			}
			for range 1 + l.r.IntN(20) {
				if err := l.step(); err != nil {
					return err
				}
			}
			return nil
		})
	}
	report, err := db.Check(t.Context(), nil)
	if err != nil || len(report.Problems) > 0 {
		t.Errorf("%v, %v", report, err)
	}
}

// A locator keeps the same rows in two tables.
type locator struct {
	r    *rand.Rand
	a, b TableWriter
	want map[int64]int64
}

const locatorKeys = 500

// locatorKey returns a key of b, some of which need overflow pages.
func locatorKey(k int64) string {
	return fmt.Sprintf("%d%s%d", k%100, strings.Repeat(".", int(k%7)*50), k)
}

func (l *locator) step() error {
	k := l.r.Int64N(locatorKeys)
	if l.r.IntN(8) > 0 {
		row, ok, err := l.a.Get(k)
		if err := l.check(k, &row, ok, err); err != nil {
			return err
		}
	}
	if l.r.IntN(8) > 0 {
		row, ok, err := l.b.Find(locatorKey(k))
		if err := l.check(k, &row, ok, err); err != nil {
			return err
		}
	}
	if l.r.IntN(4) == 0 {
		k = max(0, k+l.r.Int64N(200)-100) // not what was looked for
	}
	return l.change(k)
}

func (l *locator) check(k int64, row *Row, ok bool, err error) error {
	v, there := l.want[k]
	if err == nil && ok != there {
		err = fmt.Errorf("row %d: found %v", k, ok)
	}
	if err != nil || !ok {
		return err
	}
	if got, err := row.Int64(1); err != nil || got != v {
		return fmt.Errorf("row %d has %d, want %d, %w", k, got, v, err)
	}
	return nil
}

// change adds, replaces or deletes a row.
func (l *locator) change(k int64) (err error) {
	v := l.r.Int64()
	_, there := l.want[k]
	switch {
	case !there:
		if err = l.a.InsertRowid(k, k, v); err == nil {
			_, err = l.b.Insert(locatorKey(k), v)
		}
	case v%2 == 0:
		if err = l.a.Put(k, k, v); err == nil {
			err = l.b.PutKey(locatorKey(k), v)
		}
	default:
		delete(l.want, k)
		if _, err = l.a.Delete(k); err == nil {
			_, err = l.b.DeleteKey(locatorKey(k))
		}
		return err
	}
	l.want[k] = v
	return err
}
