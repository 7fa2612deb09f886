package recovery

import (
	"bufio"
	"encoding/hex"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/foliofs/folio/internal/osfile"
	"github.com/foliofs/folio/internal/osfile/crashfs"
)

var (
	powerImages = flag.Int("power.images", 24, "images of each setting of TestPowerLoss")
	powerSeed   = flag.Uint64("power.seed", 1, "seed of what C SQLite does in TestPowerLoss, and of the images")
)

var powerCounts struct {
	images, refused atomic.Int64
}

// TestPowerLoss lets C SQLite write under strace, repeats its system calls on a file system that
// crashes, and lets both engines recover the files after a loss of power. Both must find the same
// transactions. With synchronous EXTRA these must be all that were acknowledged; with FULL at most
// one may be missing.
func TestPowerLoss(t *testing.T) {
	needStrace(t)
	t.Cleanup(func() {
		t.Logf("%d images, %d that neither engine takes; seed %d", powerCounts.images.Load(), powerCounts.refused.Load(), *powerSeed)
	})
	for _, s := range killSettings(100 * *powerSeed) {
		if s.Engine == "c" && s.Sync > 0 {
			t.Run(s.String(), func(t *testing.T) {
				t.Parallel()
				testPowerLoss(t, s)
			})
		}
	}
}

func testPowerLoss(t *testing.T, s *setting) {
	k := newKiller(t, s)
	r := k.replay(k.record())
	history := r.fs.History()
	count, plan := 0, crashfs.FullPlan(s.Seed)
	for disk := range history.Crashes() {
		count += disk.Count(plan)
	}
	plan.Share = float64(*powerImages) / float64(count)
	rng := rand.New(rand.NewPCG(s.Seed, 3))
	for disk := range history.Crashes() {
		for img := range disk.Images(plan) {
			if (img.How == "all" || img.How == "none") && rng.Float64() >= plan.Share {
				continue
			}
			f := make(files)
			for _, name := range img.Names() {
				f[filepath.Base(name)] = img.File(name)
			}
			powerCounts.images.Add(1)
			if err := k.powerless(f, r.acked(disk.At())); err != nil {
				t.Fatalf("crash after operation %d with %s: %v\nfiles in %s\n%s", disk.At(), img.How, err, f.keep(t),
					crashfs.Trace(history.Ops()[max(0, disk.At()-25):disk.At()], crashfs.Storage))
			}
		}
	}
}

// powerless lets both engines recover the files after a loss of power.
func (k *killer) powerless(f files, acked int64) error {
	c, err := f.judge(k.dir)
	if err != nil && k.Sync < 3 && f.refused(k.dir) { // NORMAL may leave that; FULL too, where a deleted journal comes back and the file was cut
		powerCounts.refused.Add(1)
		return nil
	}
	if err != nil || k.Sync < 2 { // a journal that NORMAL has not synced has checksums of every 200th byte only
		return err
	}
	low := acked - int64(3-k.Sync) // FULL does not sync that a journal is gone
	if c.version < low || c.version > acked+1 || c != k.want[c.version+1] {
		return fmt.Errorf("%v is there, %d was acknowledged", c, acked)
	}
	return nil
}

// refused reports whether neither engine makes a sound database of the files.
func (f files) refused(dir string) bool {
	for _, e := range engines {
		path := filepath.Join(dir, "judged", baseName)
		if f.write(filepath.Dir(path)) != nil {
			return false
		}
		if _, err := e.open(path); err == nil {
			return false
		}
	}
	return true
}

// recorded are the calls that record asks for.
const recorded = "openat,close,pwrite64,ftruncate,fsync,fdatasync,unlink,write"

// record lets a process run to its end, and returns the file of its system calls.
func (k *killer) record() (trace string) {
	k.Helper()
	trace = filepath.Join(k.dir, "record")
	if err := k.base.write(filepath.Dir(k.Path)); err != nil {
		k.Fatal(err)
	}
	args := []string{"strace", "-f", "-qqq", "-xx", "-s", "100000", "-o", trace, "-e", "trace=" + recorded}
	if err := command("write", &k.setting, args...).Run(); err != nil {
		k.Fatal(err)
	}
	return trace
}

// A replay does recorded system calls to a file system that crashes.
type replay struct {
	fs      *crashfs.FS
	dir     string
	create  bool
	files   map[string]*replayed // by descriptor
	reports []int                // by version, the operation after which it was acknowledged
}

// A replayed file has no handle if it is the directory.
type replayed struct {
	name   string
	handle osfile.Handle
}

func (k *killer) replay(trace string) *replay {
	k.Helper()
	r := &replay{fs: crashfs.New(), dir: filepath.Dir(k.Path), create: k.Create, files: make(map[string]*replayed)}
	for name, data := range k.base {
		if err := r.fs.WriteFile(filepath.Join(r.dir, name), data); err != nil {
			k.Fatal(err)
		}
	}
	r.fs = r.fs.History().End().None().FS()
	f, err := os.Open(trace)
	if err != nil {
		k.Fatal(err)
	}
	defer f.Close()
	begun := make(map[string]string) // calls of threads that another thread interrupted
	lines := bufio.NewScanner(f)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		thread, text, _ := strings.Cut(lines.Text(), " ")
		text = strings.TrimSpace(text)
		if head, ok := strings.CutSuffix(text, "<unfinished ...>"); ok {
			begun[thread] = head
			continue
		}
		if _, tail, ok := strings.Cut(text, " resumed>"); ok {
			text = begun[thread] + tail
		}
		if err := r.do(text); err != nil {
			k.Fatalf("%.100s: %v", text, err)
		}
	}
	if err := lines.Err(); err != nil {
		k.Fatal(err)
	}
	return r
}

// A call is one line of strace: its name, arguments and result.
var (
	call     = regexp.MustCompile(`^(\w+)\((.*)\) += (-?\d+)`)
	argument = regexp.MustCompile(`"[^"]*"|[^, ]+`)
)

// do does one call, if it concerns the directory.
func (r *replay) do(text string) error {
	m := call.FindStringSubmatch(text)
	if m == nil || m[3] == "-1" {
		return nil
	}
	args := argument.FindAllString(m[2], -1)
	if m[1] == "openat" {
		return r.open(args, m[3])
	}
	if m[1] == "unlink" {
		name, err := unhex(args[0])
		if err != nil || !r.concerns(name) {
			return err
		}
		return r.fs.Remove(name)
	}
	if m[1] == "write" && args[0] == "1" {
		r.reports = append(r.reports, r.fs.Count())
		return nil
	}
	f := r.files[args[0]]
	if f == nil {
		return nil
	}
	if f.handle == nil {
		if m[1] == "fsync" || m[1] == "fdatasync" {
			return r.fs.SyncDir(filepath.Join(r.dir, baseName))
		}
		return nil
	}
	return f.do(m[1], args)
}

func (r *replay) open(args []string, descriptor string) error {
	delete(r.files, descriptor)
	name, err := unhex(args[1])
	if err != nil {
		return err
	}
	if name == r.dir {
		r.files[descriptor] = &replayed{name: name}
	}
	if !r.concerns(name) {
		return nil
	}
	flag := osfile.ReadWrite
	if strings.Contains(args[2], "O_CREAT") {
		flag |= osfile.Create
	}
	h, err := r.fs.Open(name, flag, 0o666)
	r.files[descriptor] = &replayed{name, h}
	return err
}

// concerns tells whether a file is part of the database. The wal-index is none that is ever on
// disk.
func (r *replay) concerns(name string) bool {
	return filepath.Dir(name) == r.dir && !strings.HasSuffix(name, "-shm")
}

// do does a call to the file.
func (f *replayed) do(call string, args []string) error {
	switch call {
	case "pwrite64":
		data, err := unhex(args[1])
		if err != nil {
			return err
		}
		off, err := strconv.ParseInt(args[3], 10, 64)
		if err != nil || strconv.Itoa(len(data)) != args[2] {
			return errors.Join(err, errors.New("a write that was not recorded whole"))
		}
		_, err = f.handle.WriteAt([]byte(data), off)
		return err
	case "ftruncate":
		size, err := strconv.ParseInt(args[1], 10, 64)
		return errors.Join(err, f.handle.Truncate(size))
	case "fsync", "fdatasync":
		return f.handle.Sync()
	}
	return nil
}

// unhex returns a string that strace wrote as "\x..".
func unhex(s string) (string, error) {
	b, err := hex.DecodeString(strings.ReplaceAll(strings.Trim(s, `"`), `\x`, ""))
	return string(b), err
}

// acked returns the last version that was acknowledged before an operation.
func (r *replay) acked(at int) int64 {
	version := int64(noVersion)
	for v, op := range r.reports {
		if op <= at {
			version = int64(v)
		}
	}
	if !r.create {
		version = max(version, 0)
	}
	return version
}
