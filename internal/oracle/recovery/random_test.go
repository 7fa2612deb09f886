package recovery

import (
	"bufio"
	"errors"
	"flag"
	"fmt"
	"io"
	"math/rand/v2"
	"os/exec"
	"path/filepath"
	"sync/atomic"
	"testing"
	"time"

	"github.com/foliofs/folio/internal/oracle/judge"
)

var (
	randomKills = flag.Int("random.kills", 300, "how often TestRandomKill kills the writer")
	randomSeed  = flag.Uint64("random.seed", 1, "seed of when")
)

// killsOfRound is how often a writer of one database is killed.
const killsOfRound = 20

// randomCounts has the counts of all rounds.
var randomCounts struct {
	kills, acked, readers, views atomic.Int64
}

// TestRandomKill kills a process that commits from several goroutines, again and again, at random
// moments, while a process of ours and one of C SQLite read; sometimes a reader dies too. Every
// acknowledged transaction must be there. Both engines must find nothing wrong. No reader may see
// half of a transaction, or see one disappear.
func TestRandomKill(t *testing.T) {
	if !judge.Available {
		t.Skip("skipped: no C compiler, so no C SQLite to read beside ours")
	}
	t.Cleanup(func() {
		c := &randomCounts
		t.Logf("%d kills, %d of readers; %d transactions acknowledged, %d views; seed %d",
			c.kills.Load(), c.readers.Load(), c.acked.Load(), c.views.Load(), *randomSeed)
	})
	modes := []string{"WAL", "DELETE", "WAL", "TRUNCATE", "WAL", "PERSIST"}
	for n := range max(1, *randomKills/killsOfRound) {
		s := &setting{Engine: "ours", Mode: modes[n%len(modes)], Sync: n / 6 % 4, PageSize: 512 << (n / 2 % 4), Seed: *randomSeed + uint64(n)}
		t.Run(s.String(), func(t *testing.T) {
			t.Parallel()
			newRound(t, s).run()
		})
	}
}

// A round is the killing of writers of one database.
type round struct {
	*testing.T
	setting
	rng     *rand.Rand
	readers []*reader
	acked   [tellers]int64 // the last transaction of each
}

func newRound(t *testing.T, s *setting) *round {
	r := &round{T: t, setting: *s, rng: rand.New(rand.NewPCG(s.Seed, 2))}
	r.Path = filepath.Join(scratchDir(t), baseName)
	if err := createBank(&r.setting); err != nil {
		t.Fatal(err)
	}
	return r
}

func (r *round) run() {
	for _, e := range []string{"ours", "c"} {
		r.readers = append(r.readers, r.startReader(e))
	}
	for n := range killsOfRound {
		err := r.kill()
		if err == nil {
			err = r.verify()
		}
		if err != nil {
			left, _ := readFiles(filepath.Dir(r.Path))
			r.Errorf("kill %d: %v\nfiles in %s", n, err, left.keep(r.T))
			break
		}
		r.replaceReaders()
	}
	for _, reader := range r.readers {
		r.stopReader(reader)
	}
}

// kill lets a writer commit for a moment, kills it, and notes the last transaction that each teller
// acknowledged.
func (r *round) kill() error {
	cmd := command("bank", &r.setting)
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		return err
	}
	lines := bufio.NewScanner(out)
	lines.Scan() // it begins
	timer := time.AfterFunc(time.Duration(r.rng.Int64N(int64(killWithin))), func() { _ = cmd.Process.Kill() })
	defer timer.Stop()
	for lines.Scan() {
		var teller, n int64
		if _, err := fmt.Sscan(lines.Text(), &teller, &n); err != nil {
			return errors.Join(err, cmd.Wait())
		}
		r.acked[teller] = max(r.acked[teller], n)
		randomCounts.acked.Add(1)
	}
	randomCounts.kills.Add(1)
	if err := cmd.Wait(); !wasKilled(err) {
		return fmt.Errorf("the writer ended: %w", err)
	}
	return nil
}

// killWithin is how long a writer lives at most.
const killWithin = 25 * time.Millisecond

// verify opens the database with both engines, which must find all acknowledged transactions.
func (r *round) verify() error {
	_, err := recoverOurs(r.Path)
	if err == nil {
		_, err = recoverC(r.Path)
	}
	if err != nil {
		return err
	}
	b, err := r.look()
	if err == nil {
		err = b.sound(newBank())
	}
	if err != nil {
		return err
	}
	for i, n := range r.acked {
		if b.last[i] < n || b.last[i] > n+1 {
			return fmt.Errorf("the last transaction of teller %d is %d; %d was acknowledged", i, b.last[i], n)
		}
	}
	r.acked = b.last
	return nil
}

// look reads the bank in this process.
func (r *round) look() (*bank, error) {
	w, err := r.watch()
	if err != nil {
		return nil, err
	}
	b, err := w.read()
	return b, errors.Join(err, w.close())
}

// A reader is a process that looks at the database all the time.
type reader struct {
	engine string
	cmd    *exec.Cmd
	in     io.Closer
	out    *bufio.Scanner
}

func (r *round) startReader(engine string) *reader {
	r.Helper()
	s := r.setting
	s.Engine = engine
	p := &reader{engine: engine, cmd: command("watch", &s)}
	in, err := p.cmd.StdinPipe()
	if err != nil {
		r.Fatal(err)
	}
	out, err := p.cmd.StdoutPipe()
	if err == nil {
		err = p.cmd.Start()
	}
	if err != nil {
		r.Fatal(err)
	}
	p.in, p.out = in, bufio.NewScanner(out)
	return p
}

// stopReader lets a reader end, which says how often it looked.
func (r *round) stopReader(p *reader) {
	r.Helper()
	_ = p.in.Close()
	var views int64
	if p.out.Scan() {
		_, _ = fmt.Sscan(p.out.Text(), &views)
	}
	randomCounts.views.Add(views)
	if err := p.cmd.Wait(); err != nil {
		r.Errorf("the reader by %s: %v", p.engine, err)
	}
}

// replaceReaders sometimes kills a reader, and sometimes ends both, so that no process has the
// database open when the next writer comes.
func (r *round) replaceReaders() {
	switch r.rng.IntN(5) {
	case 0:
		i := r.rng.IntN(len(r.readers))
		p := r.readers[i]
		_ = p.cmd.Process.Kill()
		if err := p.cmd.Wait(); !wasKilled(err) {
			r.Errorf("the reader by %s: %v", p.engine, err)
		}
		randomCounts.readers.Add(1)
		r.readers[i] = r.startReader(p.engine)
	case 1:
		for i, p := range r.readers {
			r.stopReader(p)
			r.readers[i] = r.startReader(p.engine)
		}
	}
}
