package times

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"testing"
	"time"

	"github.com/foliofs/folio/internal/must"
	"github.com/foliofs/folio/internal/oracle/judge"
	"github.com/foliofs/folio/sqlitefile"
)

// texts are times, and texts that are nearly times.
var texts = []string{
	"2026-11-22", "2026-11-22 15:04", "2026-11-22T15:04", "2026-11-22 15:04:05", "2026-11-22 15:04:05.1", "2026-11-22 15:04:05.123", "2026-11-22 15:04:05.", "2026-11-22 15:04:05.12x",
	"2026-11-22  T 15:04", "2026-11-22 15:04Z", "2026-11-22 15:04:05z ", "2026-11-22 15:04 +01:30", "2026-11-22 15:04:05.5-14:00", "2026-11-22 15:04+14:59", "2026-11-22 15:04+15:00",
	"2026-11-22 15:04+1:00", "2026-11-22 15:04 +01:30 ", "2026-11-22 24:00", "2026-11-22 24:59:59", "2026-11-22 25:00", "2026-11-22 15:60", "2026-11-22 15:04:60", "2026-02-31", "2026-04-31",
	"2026-13-01", "2026-00-01", "2026-01-00", "2026-01-32", "0000-01-01", "0000-00-00", "9999-12-31 23:59:59.999", "-0001-01-01", "-4713-11-24", "-4713-11-24 12:00", "-4714-01-01", "-9999-01-01",
	" 2026-11-22", "2026-11-22 ", "2026-11-22x", "2026-11-2", "26-11-22", "12:34", "12:34:56.789", "12:34Z", "12:34+01:00", "1:23", "", " ", "abc", "2451545", "2451545.25", " 2451545 ", "2.5e6", "1e400",
	"5373484.49999", "5373484.5", "-1", "0", "0.0", "+5", "2026-11-22 15", "2026-11-22 1504", "20261122", "2026-11-22T", "2026-11-22Z", "2026-11-22+01:00", "9999-12-31 23:59-01:00",
	"2024-02-29 00:00:00", "2023-02-29", "1600-02-29", "1582-10-10", "0001-01-01 00:00:00", "1969-12-31 23:59:59.999", "2000-01-01 00:00:00.0005",
}

// TestRead compares the time of texts, Julian days and seconds.
func TestRead(t *testing.T) {
	t.Parallel()
	values := []any{int64(0), int64(1), int64(-1), int64(1e9), int64(253402300799), int64(253402300800), int64(-210866760000), int64(-210866760001), int64(1 << 62)}
	for _, s := range texts {
		values = append(values, s)
	}
	r := rand.New(rand.NewPCG(1, 2))
	for range 3000 {
		values = append(values, randomText(r), r.Float64()*5373484.5, float64(r.Int64N(5373484*86400))/86400, r.Int64N(253402300800+210866760000)-210866760000)
	}
	values = append(values, 0.0, 5373484.4999999, 5373484.5, -0.1, 1e300, 2440587.5)
	path := filepath.Join(t.TempDir(), "db")
	c, err := judge.Open(path)
	if err != nil {
		t.Skipf("no C SQLite in this build: %v", err)
	}
	defer c.Close()
	must.Do(t, c.Exec("CREATE TABLE t (id INTEGER PRIMARY KEY, v); BEGIN"))
	for i, v := range values {
		must.Do(t, c.Exec("INSERT INTO t VALUES (?, ?)", int64(i), v))
	}
	must.Do(t, c.Exec("COMMIT"))
	db, err := sqlitefile.Open(path, nil)
	must.Do(t, err)
	defer db.Close()
	got := make(map[int64]string)
	must.Do(t, db.View(t.Context(), func(rx *sqlitefile.Rx) error {
		table, err := rx.Table("t")
		if err != nil {
			return err
		}
		for row, err := range table.All() {
			if err != nil {
				return err
			}
			at, err := row.Time(1)
			switch {
			case errors.Is(err, sqlitefile.ErrType):
				got[row.Rowid()] = "<nil>"
			case err != nil:
				return err
			default:
				got[row.Rowid()] = format(at)
			}
			var scanned time.Time
			if scanErr := row.Scan(nil, &scanned); !scanned.Equal(at) && err == nil || (scanErr == nil) != (err == nil) {
				t.Errorf("%v: Scan says %v, %v", values[row.Rowid()], scanned, scanErr)
			}
		}
		return nil
	}))
	for row, err := range c.Rows(t.Context(), "SELECT id, CAST(round(86400000.0 * CASE typeof(v) WHEN 'integer' THEN julianday(v, 'unixepoch') ELSE julianday(v) END) AS INTEGER) FROM t") {
		must.Do(t, err)
		if id := row[0].(int64); fmt.Sprint(row[1]) != got[id] {
			t.Errorf("%v (%T): we read %s, SQLite %v", values[id], values[id], got[id], row[1])
		}
	}
}

// format returns the milliseconds of the Julian day.
func format(at time.Time) string {
	return fmt.Sprint(at.Add(time.Millisecond/2).UnixMilli() + 210_866_760_000_000)
}

func randomText(r *rand.Rand) string {
	s := fmt.Sprintf("%04d-%02d-%02d", r.IntN(10000), 1+r.IntN(13), 1+r.IntN(32))
	if r.IntN(10) == 0 {
		s = ""
	} else if r.IntN(5) > 0 {
		s += []string{" ", "T", "  "}[r.IntN(3)]
	} else {
		return s
	}
	s += fmt.Sprintf("%02d:%02d", r.IntN(26), r.IntN(61))
	if r.IntN(4) > 0 {
		s += fmt.Sprintf(":%02d", r.IntN(61))
		if r.IntN(2) > 0 {
			s += "." + fmt.Sprintf("%03d", r.IntN(1000))[:1+r.IntN(3)]
		}
	}
	if r.IntN(3) == 0 {
		s += []string{"Z", "z", "+02:00", " -07:45", "+14:00", " +15:00", "-00:01 "}[r.IntN(7)]
	}
	return s
}

// TestWrite compares the text of a time with SQLite's reading of it, and reads it.
func TestWrite(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(3, 4))
	path := filepath.Join(t.TempDir(), "db")
	db, err := sqlitefile.Open(path, &sqlitefile.Options{Create: true})
	must.Do(t, err)
	defer db.Close()
	must.Do(t, db.Exec(t.Context(), "CREATE TABLE t (a TEXT, b, c DATETIME, d TEXT); CREATE INDEX i ON t (a)"))
	units := []time.Duration{time.Second, time.Millisecond, time.Microsecond, time.Nanosecond}
	var times []time.Time
	must.Do(t, db.Update(t.Context(), func(tx *sqlitefile.Tx) error {
		w, err := tx.Table("t")
		if err != nil {
			return err
		}
		for i := range 2000 {
			at := time.Unix(r.Int64N(253402300800+62167219200)-62167219200, r.Int64N(1e9)).Truncate(units[i%len(units)])
			times = append(times, at)
			if _, err := w.Insert(at, at.In(time.FixedZone("", r.IntN(80000)-40000)), at, at.UTC().Format("2006-01-02 15:04:05.000000000")); err != nil {
				return err
			}
		}
		for _, wrong := range []time.Time{time.Date(10000, 1, 1, 0, 0, 0, 0, time.UTC), time.Date(-1, 12, 31, 23, 0, 0, 0, time.UTC)} {
			if _, err := w.Insert(wrong, 1, 1, ""); !errors.Is(err, sqlitefile.ErrUnsupported) {
				t.Errorf("%v: %v", wrong, err)
			}
		}
		return nil
	}))
	must.Do(t, db.View(t.Context(), func(rx *sqlitefile.Rx) error {
		x, err := rx.IndexOn("t", "a")
		if err != nil {
			return err
		}
		table, err := rx.Table("t")
		if err != nil {
			return err
		}
		for i, at := range times {
			row, _, err := table.Get(int64(i + 1))
			if err != nil {
				return err
			}
			var a, b, c time.Time
			if err := row.Scan(&a, &b, &c); err != nil || !a.Equal(at) || !b.Equal(at) || !c.Equal(at) {
				t.Errorf("%v became %v, %v, %v, %v", at, a, b, c, err)
			}
			if _, ok, err := x.Find(at); !ok || err != nil {
				t.Errorf("%v is not found: %v", at, err)
			}
		}
		return nil
	}))
	must.Do(t, db.Close())
	c, err := judge.Open(path)
	if err != nil {
		t.Skipf("no C SQLite in this build: %v", err)
	}
	defer c.Close()
	wrong, err := c.Strings(t.Context(), `SELECT a || ', ' || d FROM t WHERE a <> b OR a <> c OR julianday(a) IS NOT julianday(d) OR typeof(a) <> 'text' OR typeof(c) <> 'text'
		OR strftime('%Y-%m-%d %H:%M:%S', a) <> substr(a, 1, 19) AND substr(d, 21, 4) < '9995'`)
	must.Do(t, err)
	for _, w := range wrong {
		t.Error(w)
	}
	order, err := c.Strings(t.Context(), "SELECT count(*) FROM (SELECT row_number() OVER (ORDER BY a) AS x, row_number() OVER (ORDER BY d) AS y FROM t) WHERE x <> y")
	must.Do(t, err)
	if order[0] != "0" {
		t.Errorf("%s texts are not in the order of their times", order[0])
	}
}
