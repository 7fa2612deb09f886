package disk

import (
	"io/fs"
	"slices"
	"sync"

	"github.com/foliofs/folio/cmd/folio/internal/tree"
)

// maxAhead is how many files a scan lists before they are walked.
const maxAhead = 1 << 14

// A scan lists the directories of a tree. Workers list ahead, in about the order in which walk
// needs them. If no worker has begun a directory when its turn comes, walk lists it.
type scan struct {
	tree    *Tree
	differ  Differ // nil if the tree is not compared
	handles handles

	mu     sync.Mutex // guards what follows, and the state of each Dir
	wake   *sync.Cond // something of it has changed
	stack  []*Dir     // to be listed, the last one first; some may be listed already
	ahead  int        // files listed, but not walked yet
	ended  bool
	failed error // of the Differ
}

// The states of a Dir, in their order.
type scanState uint8

const (
	unlisted scanState = iota
	listing            // by a worker, or by walk
	listed
)

func newScan(t *Tree, differ Differ) *scan {
	s := &scan{tree: t, differ: differ}
	s.wake = sync.NewCond(&s.mu)
	return s
}

// start starts the workers of a pipeline. The caller must call end when its walk is over.
func (s *scan) start(p *tree.Pipeline) (end func()) {
	for range tree.Workers() {
		p.Go(s.work)
	}
	return s.end
}

// end lets the workers go home. Nothing is listed any more.
func (s *scan) end() {
	s.mu.Lock()
	s.ended = true
	s.wake.Broadcast()
	s.mu.Unlock()
}

func (s *scan) work() {
	for d := s.next(); d != nil; d = s.next() {
		s.list(d)
	}
}

// next waits for a directory that must be listed. It returns nil at the end.
func (s *scan) next() *Dir {
	s.mu.Lock()
	defer s.mu.Unlock()
	for !s.ended {
		if n := len(s.stack); n > 0 && s.ahead < maxAhead {
			d := s.stack[n-1]
			s.stack[n-1], s.stack = nil, s.stack[:n-1]
			if d.state == unlisted {
				d.state = listing
				return d
			}
			continue
		}
		s.wake.Wait()
	}
	return nil
}

// await returns when a directory is listed.
func (s *scan) await(d *Dir) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if d.state == unlisted {
		d.state = listing
		s.mu.Unlock()
		s.list(d)
		s.mu.Lock()
	}
	for d.state != listed {
		s.wake.Wait()
	}
	return s.failed
}

// list lists a directory, has it looked at, and offers those in it to the workers.
func (s *scan) list(d *Dir) {
	d.read()
	var err error
	if s.differ != nil {
		d.Comparison, err = s.differ.Scan(d)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if err != nil && s.failed == nil {
		s.failed = err
	}
	d.state = listed
	s.ahead += len(d.Files)
	for _, sub := range slices.Backward(d.dirs) {
		s.stack = append(s.stack, sub)
	}
	s.wake.Broadcast()
}

// taken notes that the files of a directory that is listed are being walked.
func (s *scan) taken(d *Dir) {
	s.mu.Lock()
	s.ahead -= len(d.Files)
	s.wake.Broadcast()
	s.mu.Unlock()
}

// read lists a directory.
func (d *Dir) read() {
	handle, err := d.acquire()
	if err != nil {
		d.Err = err
		return
	}
	defer handle.release()
	names, err := d.names(handle)
	if err == nil {
		d.xattrs, err = handle.xattrs()
	}
	if err != nil {
		d.Err = err
		return
	}
	d.Files = make([]File, 0, len(names))
	for _, name := range names {
		d.add(handle, name)
	}
}

// add looks at a file in the directory.
func (d *Dir) add(handle *dirHandle, name string) {
	f := File{Name: name, Dir: d}
	f.stat, f.Err = handle.lstat(name)
	if x := d.scan.tree.o.Exclude; len(x) > 0 && x.File(f.Path(), f.stat.mode.IsDir()) {
		return
	}
	switch f.stat.mode.Type() {
	case fs.ModeDir:
		d.dirs = append(d.dirs, &Dir{Path: tree.Join(d.Path, name), Up: d, name: name, stat: f.stat, scan: d.scan})
	case fs.ModeSocket:
		f.Err = tree.ErrSocket
	case fs.ModeSymlink:
		f.target, f.Err = handle.readlink(name, f.stat.size)
	}
	f.Err = changed(f.Err)
	d.Files = append(d.Files, f)
}
