package sqlitefile

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"sync"
	"testing"

	"github.com/foliofs/folio/internal/invariant"
)

var (
	crashImages = flag.Int("crash.images", 0, "images of each crash test to check; 0 for what fits into CI")
	crashSeeds  = flag.Int("crash.seeds", 1, "how many seeds each crash test is run with")
	crashExport = flag.String("crash.export", "", "a file for one in a hundred of the images, for another program, in place of opening any")
	crashFirst  = flag.Uint64("crash.seed", 1, "the first seed of crash tests")
)

var crashModes = []struct {
	name    string
	wal     bool
	journal JournalMode
}{
	{"wal", true, JournalDelete},
	{"delete", false, JournalDelete},
	{"truncate", false, JournalTruncate},
	{"persist", false, JournalPersist},
}

var crashDurabilities = []struct {
	name       string
	durability Durability
}{
	{"full", DurabilityFull}, {"extra", DurabilityExtra}, {"normal", DurabilityNormal}, {"off", DurabilityOff},
}

var crashPageSizes = [...]int{512, 4096, 1024}

// TestCrash crashes databases in all modes at each moment of their use, in all the ways of package
// crashfs, and looks at what is left: it opens, Check finds no fault, it holds exactly the first so
// many transactions, among them all that were acknowledged, and it can be written to and closed.
func TestCrash(t *testing.T) {
	t.Cleanup(func() { logCrashCounts(t) })
	openCrashExport(t)
	for i, mode := range crashModes {
		for j, d := range crashDurabilities {
			c := &crashCase{wal: mode.wal, journal: mode.journal, durability: d.durability, pageSize: crashPageSizes[(i+j)%3], run: mixedUse}
			t.Run(mode.name+" "+d.name, func(t *testing.T) { c.test(t, 80) })
		}
	}
	for _, d := range crashDurabilities {
		c := &crashCase{wal: true, durability: d.durability, pageSize: 512, run: logUse}
		t.Run("log "+d.name, func(t *testing.T) { c.test(t, 120) })
	}
	for _, mode := range crashModes {
		c := &crashCase{wal: mode.wal, journal: mode.journal, durability: DurabilityExtra, pageSize: 512, spill: 8 * 512, run: largeUse}
		t.Run(mode.name+" spill", func(t *testing.T) { c.test(t, 30) })
		c = &crashCase{wal: mode.wal, journal: mode.journal, durability: DurabilityExtra, pageSize: 1024, run: switchingUse}
		t.Run(mode.name+" switch", func(t *testing.T) { c.test(t, 60) })
	}
	for _, mode := range crashModes {
		c := &crashCase{wal: mode.wal, journal: mode.journal, durability: DurabilityExtra, pageSize: 512, exclusive: true, run: exclusiveUse}
		t.Run(mode.name+" exclusive", func(t *testing.T) { c.test(t, 60) })
	}
	for i, mode := range crashModes {
		d := crashDurabilities[(i+2)%3]
		c := &crashCase{wal: mode.wal, journal: mode.journal, durability: d.durability, pageSize: 512, autoVacuum: 1 + i/3, spill: 16 * 512, run: vacuumUse}
		t.Run(mode.name+" auto-vacuum "+d.name, func(t *testing.T) { c.test(t, 30) })
		c = &crashCase{wal: mode.wal, journal: mode.journal, durability: d.durability, pageSize: 4096, tight: true, spill: 64 << 10, run: tightUse}
		t.Run(mode.name+" tight "+d.name, func(t *testing.T) { c.test(t, 50) })
		c = &crashCase{wal: mode.wal, journal: mode.journal, durability: DurabilityFull, pageSize: 1024 << (i % 2), autoVacuum: i % 3, tight: true, spill: 16 << 10, run: tightUse}
		t.Run(mode.name+" tight", func(t *testing.T) { c.test(t, 40) })
		c = &crashCase{wal: mode.wal, journal: mode.journal, durability: DurabilityExtra, pageSize: 4096, run: concurrentUse}
		t.Run(mode.name+" concurrent", func(t *testing.T) { c.test(t, 6) })
	}
}

// test runs the case with each seed.
func (c *crashCase) test(t *testing.T, steps int) {
	t.Parallel()
	images, nested := 1500, 8 // of a seed; docs/reference/ledger.md has the soaks
	if invariant.Enabled {
		images, nested = 300, 2
	}
	if testing.Short() {
		steps = max(4, steps/4)
	}
	if c.tight {
		images, nested = images/6, nested/4 // they are large
	}
	if *crashImages > 0 {
		images, nested = *crashImages, 1+*crashImages/250
	}
	for n := range uint64(*crashSeeds) {
		seed := *crashFirst + n
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			l := newCrashLoad(t, c, seed)
			l.steps = steps
			c.run(l)
			l.close()
			switch {
			case *crashExport != "":
				l.export(seed, images)
			case !testing.Short(): // the race detector looks at how the engine runs, not at what a crash leaves
				l.verify(seed, images, nested)
			}
		})
	}
}

// mixedUse does a bit of everything, from one goroutine.
func mixedUse(l *crashLoad) {
	for range l.steps {
		switch l.rng.IntN(12) {
		case 0:
			l.rollback()
		case 1, 2:
			l.checkpoint(CheckpointMode(l.rng.IntN(4)))
		case 3:
			l.close()
			l.open()
		case 4:
			l.read()
		case 5:
			l.fromOutside()
		default:
			l.commit(l.db)
		}
	}
}

// logUse begins the log anew again and again, over the traces of many small transactions.
func logUse(l *crashLoad) {
	for range l.steps {
		switch l.rng.IntN(20) {
		case 0:
			l.rollback()
		case 1:
			l.read()
		case 2:
			l.fromOutside()
		case 3, 4, 5, 6, 7, 8:
			l.checkpoint(CheckpointMode(l.rng.IntN(4)))
		default:
			l.size = l.rng.IntN(6) - 4
			l.commit(l.db)
		}
	}
}

// largeUse has transactions that do not fit into memory.
func largeUse(l *crashLoad) {
	for range l.steps {
		l.size = 2 + 40*l.rng.IntN(2)
		switch l.rng.IntN(10) {
		case 0, 1, 2:
			l.rollback()
		case 3:
			l.checkpoint(CheckpointMode(l.rng.IntN(4)))
		case 4:
			l.close()
			l.open()
		default:
			l.commit(l.db)
		}
	}
}

// switchingUse goes from one journal mode to another.
func switchingUse(l *crashLoad) {
	for range l.steps {
		switch l.rng.IntN(8) {
		case 0, 1:
			l.switchMode(JournalDelete + JournalMode(l.rng.IntN(4)))
		case 2:
			l.checkpoint(CheckpointMode(l.rng.IntN(4)))
		case 3:
			l.fromOutside()
		case 4:
			l.close()
			l.open()
		default:
			l.commit(l.db)
		}
	}
}

// vacuumUse makes the database of a sudden larger and smaller, with roots that move.
func vacuumUse(l *crashLoad) {
	scratch := false
	for range l.steps {
		l.size = 3 + 30*l.rng.IntN(2)
		switch l.rng.IntN(10) {
		case 0, 1:
			l.scratch(scratch)
			scratch = !scratch
		case 2:
			l.rollback()
		case 3:
			l.checkpoint(CheckpointMode(l.rng.IntN(4)))
		case 4:
			l.close()
			l.open()
		default:
			l.commit(l.db)
		}
	}
}

// scratch creates a table that the state does not know, with rows, or drops it.
func (l *crashLoad) scratch(drop bool) {
	err := l.db.Update(context.Background(), func(tx *Tx) error {
		if drop {
			return tx.Exec("DROP TABLE scratch")
		}
		if err := tx.Exec("CREATE TABLE scratch(a UNIQUE, b); CREATE INDEX scratch_b ON scratch(b)"); err != nil {
			return err
		}
		t, err := tx.Table("scratch")
		for n := 0; n < 20 && err == nil; n++ {
			_, err = t.Insert(n, crashBody(l.rng))
		}
		return err
	})
	if err != nil {
		l.t.Fatal(err)
	}
}

func (l *crashLoad) switchMode(mode JournalMode) {
	if err := l.db.SetJournalMode(context.Background(), mode); err != nil {
		l.t.Fatalf("to mode %d: %v", mode, err)
	}
}

// fromOutside commits through another connection, while the first one is there.
func (l *crashLoad) fromOutside() {
	db, err := Open(crashPath, l.options(l.sys))
	if err != nil {
		l.t.Fatal(err)
	}
	l.commit(db)
	if err := db.Close(); err != nil {
		l.t.Fatal(err)
	}
}

// exclusiveUse keeps other connections out. It also compacts.
func exclusiveUse(l *crashLoad) {
	for range l.steps {
		switch l.rng.IntN(12) {
		case 0:
			l.switchMode(JournalDelete + JournalMode(l.rng.IntN(4)))
		case 1, 2:
			l.checkpoint(CheckpointMode(l.rng.IntN(4)))
		case 3:
			l.refused()
		case 4:
			l.close()
			l.open()
		case 5:
			l.compact()
		default:
			l.commit(l.db)
		}
	}
}

func (l *crashLoad) compact() {
	if err := l.db.Compact(context.Background(), nil); err != nil {
		l.t.Fatalf("compact: %v", err)
	}
}

// refused tries to open another connection.
func (l *crashLoad) refused() {
	o := l.options(l.sys)
	o.BusyTimeout = -1
	if _, err := Open(crashPath, o); !errors.Is(err, ErrBusy) {
		l.t.Errorf("another connection: %v", err)
	}
}

// concurrentUse commits from several goroutines at once, in groups.
func concurrentUse(l *crashLoad) {
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for range l.steps {
				l.commit(l.db)
			}
		})
	}
	wg.Wait()
}
