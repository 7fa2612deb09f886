package sqlitefile

import (
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/foliofs/folio/internal/must"
)

// A stubborn is a Scanner that takes nothing.
type stubborn struct{}

var errStubborn = errors.New("no")

func (stubborn) Scan(any) error { return errStubborn }

// TestNilPointers gives nil pointers where values, or destinations, are expected.
func TestNilPointers(t *testing.T) {
	t.Parallel()
	db := open(t, t.TempDir()+"/db", &Options{Create: true})
	must.Do(t, db.Exec(t.Context(), "CREATE TABLE t (id INTEGER PRIMARY KEY, a, b AS (a + 1))"))
	must.Do(t, db.Exec(t.Context(), "CREATE INDEX i ON t (a)"))
	update(t, db, func(tx *Tx) error {
		table, err := tx.Table("t")
		must.Do(t, err)
		if rowid, err := table.Insert((*int64)(nil), (*int64)(nil), nil); rowid != 1 || err != nil {
			t.Errorf("Insert: %d, %v", rowid, err)
		}
		row, ok, err := table.Get(1)
		if !ok || err != nil {
			t.Fatalf("%v, %v", ok, err)
		}
		for _, dest := range []any{
			(*int64)(nil), (*int)(nil), (*float64)(nil), (*string)(nil), (*[]byte)(nil), (*bool)(nil), (*Value)(nil), (*any)(nil), (*time.Time)(nil),
			(**int64)(nil),
			stubborn{},
			7,
		} {
			if err := row.Scan(dest); !errors.Is(err, ErrType) {
				t.Errorf("Scan into a nil %T: %v, want ErrType", dest, err)
			}
		}
		if err := row.Scan(stubborn{}); !errors.Is(err, errStubborn) {
			t.Errorf("%v, want the error of the Scanner, too", err)
		}
		return nil
	})
	wantContent(t, db, "t", "[1 <nil> <nil>]")
}

// TestKeyTypes looks a row up by each type that Insert takes.
func TestKeyTypes(t *testing.T) {
	t.Parallel()
	db := open(t, t.TempDir()+"/db", &Options{Create: true})
	must.Do(t, db.Exec(t.Context(), "CREATE TABLE t (a)"))
	must.Do(t, db.Exec(t.Context(), "CREATE INDEX i ON t (a)"))
	n := int64(1)
	update(t, db, func(tx *Tx) error {
		table, err := tx.Table("t")
		must.Do(t, err)
		_, err = table.Insert(1)
		return err
	})
	view(t, db, func(rx *Rx) error {
		x, err := rx.Index("i")
		must.Do(t, err)
		for _, key := range []any{1, int64(1), int32(1), int16(1), int8(1), uint(1), uint64(1), uint32(1), uint16(1), uint8(1), float32(1), 1.0, true, &n} {
			if _, ok, err := x.Find(key); !ok || err != nil {
				t.Errorf("by %T: %v, %v", key, ok, err)
			}
		}
		for _, key := range []any{false, nil, (*int64)(nil), int8(2)} {
			if _, ok, err := x.Find(key); ok || err != nil {
				t.Errorf("by %v: %v, %v", key, ok, err)
			}
		}
		if _, _, err := x.Find(uint64(math.MaxUint64)); err == nil {
			t.Error("a number beyond all integers is a key")
		}
		return nil
	})
}

// TestCountFirst gives too few values, the first of which is wrong as well.
func TestCountFirst(t *testing.T) {
	t.Parallel()
	db := open(t, t.TempDir()+"/db", &Options{Create: true})
	must.Do(t, db.Exec(t.Context(), "CREATE TABLE t (id INTEGER PRIMARY KEY, a, b)"))
	update(t, db, func(tx *Tx) error {
		table, err := tx.Table("t")
		must.Do(t, err)
		if _, err := table.Insert("pending", 1); err == nil || !strings.Contains(err.Error(), "3 columns but 2 values") {
			t.Errorf("%v, want the number of columns", err)
		}
		return nil
	})
}

// TestExecInstead runs statements that the engine does not have.
func TestExecInstead(t *testing.T) {
	t.Parallel()
	db := open(t, t.TempDir()+"/db", &Options{Create: true})
	for sql, want := range map[string]string{
		"INSERT INTO t VALUES (1)": "Tx.Table", "delete from t": "DeleteRange", "SELECT 1": "Rx.Table", "VACUUM": "DB.Compact",
	} {
		if err := db.Exec(t.Context(), sql); !errors.Is(err, ErrUnsupported) || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %s", sql, err, want)
		}
	}
	must.Do(t, db.Exec(t.Context(), "CREATE TABLE t (a)"))
	if err := db.Exec(t.Context(), "CREATE INDEX i ON t (nosuch)"); !errors.Is(err, ErrNoColumn) {
		t.Errorf("%v, want ErrNoColumn", err)
	}
}

// TestOptionsOutOfRange gives numbers that no option has.
func TestOptionsOutOfRange(t *testing.T) {
	t.Parallel()
	path := t.TempDir() + "/db"
	for _, o := range []Options{{JournalMode: 77}, {JournalMode: -1}, {Durability: 4}, {Durability: -1}} {
		o.Create = true
		if db, err := Open(path, &o); !errors.Is(err, ErrUnsupported) {
			t.Errorf("%+v: %v, want ErrUnsupported", o, err)
			_ = db.Close()
		}
	}
	db := open(t, path, &Options{Create: true})
	for _, mode := range []CheckpointMode{-1, 4} {
		if err := db.Checkpoint(t.Context(), mode); !errors.Is(err, ErrUnsupported) {
			t.Errorf("checkpoint %d: %v, want ErrUnsupported", mode, err)
		}
	}
}

// TestStrings prints the constants of the package.
func TestStrings(t *testing.T) {
	t.Parallel()
	for want, v := range map[string]fmt.Stringer{
		"full": DurabilityFull, "extra": DurabilityExtra, "normal": DurabilityNormal, "off": DurabilityOff, "Durability(7)": Durability(7),
		"delete": JournalDelete, "persist": JournalPersist, "wal": JournalWAL, "JournalMode(-1)": JournalMode(-1),
		"passive": CheckpointPassive, "restart": CheckpointRestart, "NOT NULL": ConstraintNotNull, "FOREIGN KEY": ConstraintForeignKey,
		"commit": EventCommit, "EventKind(77)": EventKind(77), "TEXT": KindText,
	} {
		if got := v.String(); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
