package bench

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"syscall"
	"testing"
	"time"

	"github.com/foliofs/folio"
)

// A mountBench lets each side do each case. The sides are a volume that is mounted; files on the
// same disk, and on a btrfs; the floor, which is the least that a mount can cost; and other file
// systems of FUSE, as far as they are installed.
type mountBench struct {
	answers map[string]any // of each case; they must be the same for all sides
}

// A mountCase is a piece of work. Its functions get a side whose content is there.
type mountCase struct {
	name   string
	needs  string                                        // a program that must be installed
	writes bool                                          // not for sides that can only be read
	fills  bool                                          // it makes the content
	warm   bool                                          // work is done once before, untimed
	cold   bool                                          // nothing is in any cache
	ready  func(b *testing.B, s *mountSide) error        // untimed, before; may be nil
	work   func(b *testing.B, s *mountSide) (any, error) // returns what it has found
	check  func(b *testing.B, s *mountSide) (any, error) // untimed, finds what work has done; may be nil
}

// run runs benchmarks with the names CASE/SIDE.
func (m *mountBench) run(b *testing.B, sides []*mountSide, cases []mountCase) {
	for i := range cases {
		for _, s := range sides {
			b.Run(cases[i].name+"/"+s.name, func(b *testing.B) { m.turn(b, s, &cases[i]) })
		}
	}
}

// turn lets a side do a case. A peer that fails skips it, and all others if it is not mounted any
// more.
func (m *mountBench) turn(b *testing.B, s *mountSide, c *mountCase) {
	b.StopTimer()
	if s.missing != "" {
		b.Skip(s.missing)
	}
	if s.readOnly && c.writes {
		b.Skipf("%s can only be read", s.name)
	}
	if s.slow && c.fills && !*quick {
		b.Skipf("%s takes minutes for that", s.name)
	}
	if c.needs != "" {
		if _, err := exec.LookPath(c.needs); err != nil {
			b.Skip(err)
		}
	}
	for range b.N {
		err := m.once(b, s, c)
		if err != nil && !s.peer {
			b.Fatal(s.failure(err))
		}
		if err != nil {
			if s.serve != nil && s.daemon == nil {
				s.missing = s.failure(err)
			}
			b.Skip(s.failure(err))
		}
	}
}

// once does a case once. The timer runs during the work only.
func (m *mountBench) once(b *testing.B, s *mountSide, c *mountCase) error {
	if err := c.prepare(b, s); err != nil {
		return err
	}
	b.StartTimer()
	got, err := c.work(b, s)
	b.StopTimer()
	if err == nil && c.check != nil {
		got, err = c.check(b, s)
	}
	if err != nil {
		return err
	}
	want, ok := m.answers[c.name]
	if !ok && !s.peer {
		m.answers[c.name] = got
	} else if ok && got != want {
		return fmt.Errorf("%s: %v, want %v", c.name, got, want)
	}
	return nil
}

func (c *mountCase) prepare(b *testing.B, s *mountSide) error {
	if s.fill != nil && !s.full && !c.fills {
		if err := s.fill(b, s.dir); err != nil {
			return err
		}
	}
	s.full = true
	if c.ready != nil {
		if err := c.ready(b, s); err != nil {
			return err
		}
	}
	if c.warm {
		if _, err := c.work(b, s); err != nil {
			return err
		}
	}
	if c.cold {
		return s.chill(b)
	}
	if c.writes && !*quick { // what others have written must not be written meanwhile
		synced(b)
	}
	return nil
}

// BenchmarkMountCreate creates files of 100 bytes: by one process, and by eight, each in a
// directory of its own.
func BenchmarkMountCreate(b *testing.B) {
	needMounts(b)
	sides := mountSides(nil)
	for _, s := range sides {
		s.start(b)
	}
	m := &mountBench{make(map[string]any)}
	m.run(b, sides, []mountCase{createCase("one", 1, size(4000, 80)), createCase("eight", 8, size(4000, 80))})
}

// createCase returns the case in which processes create n files together.
func createCase(name string, processes, n int) mountCase {
	var crew []*creator
	return mountCase{
		name: name, writes: true,
		ready: func(b *testing.B, s *mountSide) (err error) {
			crew, err = startCreators(b, s.dir, processes, n/processes)
			return err
		},
		work: func(*testing.B, *mountSide) (any, error) {
			for _, c := range crew {
				if err := c.begin(); err != nil {
					return nil, err
				}
			}
			for _, c := range crew {
				if err := c.expect("done"); err != nil {
					return nil, err
				}
			}
			return nil, nil
		},
		check: func(_ *testing.B, s *mountSide) (any, error) {
			for _, c := range crew {
				if err := c.end(); err != nil {
					return nil, err
				}
			}
			dir := filepath.Join(s.dir, "made")
			made, err := walk(os.DirFS(dir), true)
			return made, errors.Join(err, os.RemoveAll(dir))
		},
	}
}

// startCreators starts processes that will create n files each, and waits until they are ready.
func startCreators(b *testing.B, dir string, processes, n int) (crew []*creator, err error) {
	for i := range processes {
		own := filepath.Join(dir, "made", strconv.Itoa(i))
		if err := os.MkdirAll(own, 0o755); err != nil {
			return nil, err
		}
		c, err := startCreator(b, "create-files", own, strconv.Itoa(n))
		if err != nil {
			return nil, err
		}
		crew = append(crew, c)
	}
	return crew, nil
}

func init() { roles["create-files"] = createFiles }

// createFiles is the role of a creator. It does nothing but the three system calls for each file.
func createFiles(args []string) error {
	n, err := strconv.Atoi(args[1])
	if err != nil {
		return err
	}
	fmt.Println("ready")
	if _, err := os.Stdin.Read(make([]byte, 1)); err != nil {
		return err
	}
	for i := range n {
		name, content := fmt.Sprintf("%s/file-%06d", args[0], i), fmt.Sprintf("%-99d\n", i)
		fd, err := syscall.Open(name, syscall.O_CREAT|syscall.O_EXCL|syscall.O_WRONLY|syscall.O_CLOEXEC, 0o644)
		if err != nil {
			return &os.PathError{Op: "open", Path: name, Err: err}
		}
		if _, err := syscall.Write(fd, []byte(content)); err != nil {
			return &os.PathError{Op: "write", Path: name, Err: err}
		}
		if err := syscall.Close(fd); err != nil {
			return &os.PathError{Op: "close", Path: name, Err: err}
		}
	}
	return nil
}

// BenchmarkMountForeign commits to a volume that another process has mounted, and tells how long it
// takes until a program sees that in the mount. The program reads the file all the time.
func BenchmarkMountForeign(b *testing.B) {
	needMounts(b)
	s := &mountSide{name: "folio", serve: serveFolio}
	s.start(b)
	vol, err := folio.Open(s.volume(), nil)
	must(b, err)
	b.Cleanup(func() { must(b, vol.Close()) })
	b.Run("folio", func(b *testing.B) {
		var took []time.Duration
		for range b.N {
			for _, pause := range []time.Duration{0, 3 * time.Millisecond, 50 * time.Millisecond} {
				for i := range size(100, 5) {
					took = append(took, seen(b, vol, filepath.Join(s.dir, "file"), fmt.Sprint(pause, i)))
					time.Sleep(pause)
				}
			}
		}
		slices.Sort(took)
		b.ReportMetric(took[len(took)/2].Seconds()*1e3, "ms-median")
		b.ReportMetric(took[len(took)-1].Seconds()*1e3, "ms-max")
	})
}

// seen commits a new content, and returns the time from then until path has it.
func seen(b *testing.B, vol *folio.Volume, path, content string) time.Duration {
	must(b, vol.WriteFile(filepath.Base(path), []byte(content), 0o644))
	start := time.Now()
	for {
		got, err := os.ReadFile(path)
		took := time.Since(start)
		if err == nil && string(got) == content {
			return took
		}
		if took > 2*time.Second {
			b.Fatalf("after %v the mount shows %q, %v", took, got, err)
		}
	}
}
