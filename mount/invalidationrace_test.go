//go:build linux && !386 && !arm && !mips && !mipsle

package mount

import (
	"testing"
	"time"

	"github.com/foliofs/folio"
	"github.com/foliofs/folio/internal/must"
	"github.com/foliofs/folio/internal/private"
	"github.com/foliofs/folio/internal/store"
)

// TestOvertaken lets the kernel take long from copying the data of a write to sending it. Reads in
// between may have overtaken the write, however long that was.
func TestOvertaken(t *testing.T) {
	const ino = store.Ino(7)
	arrived := time.Now()
	for _, c := range []struct {
		what     string
		since    time.Duration // before the write arrived
		dropped  bool
		from, to int64
	}{
		{"a read since the write before", 3 * time.Second, true, 4096, 5000},
		{"a read before the answer to the write before", time.Second, true, 0, 0},
		{"a read, and nothing was forgotten", 3 * time.Second, false, 0, 0},
	} {
		var d invalidationRace
		s := d.slot(ino)
		if c.dropped {
			s.last = arrived.Add(-2 * time.Second)
		}
		for i := range s.reads {
			s.reads[i] = racingRead{ino: ino, at: arrived.Add(-time.Hour)}
		}
		s.reads[3] = racingRead{ino, 4096, 8192, arrived.Add(-2 * time.Second)}
		from, to, _ := d.overtaken(ino, 4000, 5000, arrived.Add(-c.since), arrived)
		if from >= to {
			from, to = 0, 0
		}
		if from != c.from || to != c.to {
			t.Errorf("%s: %d to %d, want %d to %d", c.what, from, to, c.from, c.to)
		}
	}
}

// TestLastTransfers wants a write to count from the answer to the one before it, and from a minute
// ago if that is not known.
func TestLastTransfers(t *testing.T) {
	vol, err := folio.OpenMemory(nil)
	must.Do(t, err)
	defer vol.Close()
	m, err := newFileSystem(vol.Store(private.Key{}), new(Options))
	must.Do(t, err)
	n := store.Node{Ino: 9, Mode: store.ModeRegular}
	m.inodes.answer(&n, 1, asker{at: always})
	before := time.Now()
	m.inodes.reading(n.Ino)
	m.inodes.wrote(n.Ino)
	if written, read := m.inodes.lastTransfers(n.Ino); written.Before(before) || read.Before(before) || written.Before(read) {
		t.Errorf("written %v, read %v, begun %v", written, read, before)
	}
	if written, read := m.inodes.lastTransfers(n.Ino + 1); written.After(before) || read.After(before) {
		t.Errorf("of an unknown file: written %v, read %v", written, read)
	}
}
