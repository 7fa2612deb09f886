package sqlitefile

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/foliofs/folio/internal/osfile/crashfs"
	"github.com/foliofs/folio/internal/race"
)

// schemaSteps make, change and drop a schema. Each leaves another sqlite_schema behind.
var schemaSteps = []func(tx *Tx) error{
	func(tx *Tx) error { return tx.Exec("CREATE TABLE a(id INTEGER PRIMARY KEY AUTOINCREMENT, x, y)") },
	func(tx *Tx) error {
		t, err := tx.Table("a")
		for i := 0; i < 60 && err == nil; i++ {
			_, err = t.Insert(nil, fmt.Sprint("key ", i*31%60), strings.Repeat("y", i*20))
		}
		return errors.Join(err, tx.Exec("CREATE VIEW v AS SELECT x FROM a"))
	},
	func(tx *Tx) error { return tx.Exec("CREATE UNIQUE INDEX a_x ON a(x); CREATE INDEX a_y ON a(y, x)") },
	func(tx *Tx) error {
		return tx.Exec("CREATE TABLE b(x PRIMARY KEY, y) WITHOUT ROWID; DROP INDEX a_x; CREATE INDEX b_y ON b(y)")
	},
	func(tx *Tx) error {
		return tx.Exec("ALTER TABLE a ADD z TEXT NOT NULL DEFAULT 'z'; ALTER TABLE b ADD z CHECK (z > 0)")
	},
	func(tx *Tx) error { return tx.Exec("DROP TABLE a") },
	func(tx *Tx) error { return tx.Exec("DROP VIEW v; CREATE TABLE c(z UNIQUE)") },
}

// TestCrashSchema crashes the creation of a database and of its schema at each moment: it is empty,
// or has the schema after one of the steps, and not less than those that were acknowledged.
func TestCrashSchema(t *testing.T) {
	race.Skip(t, "it is long, and calls from one goroutine")
	t.Parallel()
	for _, mode := range []JournalMode{JournalWAL, JournalPersist, JournalTruncate, JournalDelete}[:inQuick(1, inShort(2, 4))] {
		t.Run(fmt.Sprint(mode), func(t *testing.T) {
			t.Parallel()
			o := &Options{Create: true, PageSize: 512, JournalMode: mode, Durability: DurabilityExtra, BusyTimeout: 10 * time.Second}
			testCrashSchema(t, o, crashfs.New())
		})
		t.Run(fmt.Sprint(mode, " auto-vacuum"), func(t *testing.T) {
			t.Parallel()
			first := emptyDatabase(512, 1)
			markWAL(first, mode == JournalWAL)
			fs := crashfs.New()
			if err := fs.WriteFile(crashPath, first); err != nil {
				t.Fatal(err)
			}
			o := &Options{JournalMode: mode, Durability: DurabilityExtra, BusyTimeout: 10 * time.Second}
			testCrashSchema(t, o, fs.History().End().None().FS())
		})
	}
}

func testCrashSchema(t *testing.T, o *Options, fs *crashfs.FS) {
	o.system = watch(t, fs, o.Durability)
	db := open(t, crashPath, o)
	schemas, acked := []string{""}, []int{0}
	for _, step := range schemaSteps {
		update(t, db, step)
		acked = append(acked, fs.Count())
		view(t, db, func(rx *Rx) error { schemas = append(schemas, schemaText(t, rx)); return nil })
	}
	steps := make(map[uint64]int) // by image: many are alike
	for disk := range fs.History().Crashes() {
		low := 0
		for low+1 < len(acked) && acked[low+1] <= disk.At() {
			low++
		}
		for img := range disk.Images(crashfs.Plan{Seed: 1, Single: 8, Subsets: 6, Garbage: 2, Names: 4}) {
			step, ok := steps[img.Hash()]
			var err error
			if !ok {
				step, err = schemaStep(t, img, *o, schemas)
				steps[img.Hash()] = step
			}
			if err != nil || step < low || step > low+1 {
				t.Fatalf("crash after operation %d with %s: step %d, want %d or the next; %v\n%s",
					disk.At(), img.How, step, low, err, crashfs.Trace(fs.Ops(max(0, disk.At()-30))[:min(30, disk.At())], crashfs.Storage))
			}
		}
	}
	t.Logf("%d images", len(steps))
}

// schemaStep opens an image and returns which step it stands at.
func schemaStep(t *testing.T, img *crashfs.Image, o Options, schemas []string) (step int, err error) {
	fs := img.FS()
	o.system = watch(t, fs, o.Durability)
	db, err := Open(crashPath, &o)
	if err != nil {
		return 0, err
	}
	report, err := db.Check(context.Background(), nil)
	if err == nil && !report.OK() {
		err = fmt.Errorf("check: %v", report.Problems)
	}
	if err == nil {
		err = db.View(context.Background(), func(rx *Rx) error {
			step = slices.Index(schemas, schemaText(t, rx))
			return nil
		})
	}
	if err == nil {
		err = db.Exec(context.Background(), "CREATE TABLE more(a)")
	}
	return step, errors.Join(err, db.Close())
}
