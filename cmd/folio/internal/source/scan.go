package source

import (
	"context"
	"io/fs"
	"slices"
	"sync"
)

// maxAhead is how many files a scan lists before they are compared.
const maxAhead = 1 << 14

// A scan lists the directories of a tree. Where it also looks at them, workers list ahead, in about
// the order in which the producer needs them. If no worker has begun a directory when its turn
// comes, the producer lists it.
type scan struct {
	tree    *Tree
	look    func(*Dir) error // is called for each directory that is listed; nil for nothing
	handles handles
	ctx     context.Context // of the pipeline; the producer's

	mu     sync.Mutex // guards what follows, and the state of each Dir
	wake   *sync.Cond // something of it has changed
	stack  []*Dir     // to be listed, the last one first; some may be listed already
	ahead  int        // files listed that the producer has not left yet
	ended  bool
	failed error // of look
}

// The states of a Dir, in their order.
type scanState uint8

const (
	unlisted scanState = iota
	listing            // by a worker, or by the producer
	listed
)

func newScan(t *Tree, look func(*Dir) error) *scan {
	s := &scan{tree: t, look: look}
	s.wake = sync.NewCond(&s.mu)
	return s
}

// root returns the directory of the tree.
func (s *scan) root() (*Dir, error) {
	st, err := s.tree.dir.lstat(".")
	return &Dir{Path: ".", stat: st, scan: s}, err
}

// run calls produce, the producer of a pipeline, while workers list ahead.
func (s *scan) run(p *pipeline, produce func(root *Dir) error) error {
	s.ctx = p.ctx
	root, err := s.root()
	if err != nil {
		return err
	}
	if s.look != nil { // without, there is nothing to gain: the workers of the pipeline are busy
		for range workers() {
			p.group.Go(s.work)
		}
	}
	defer s.end()
	return produce(root)
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
	if err := context.Cause(s.ctx); err != nil {
		return err
	}
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
	if s.look != nil {
		err = s.look(d)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if err != nil && s.failed == nil {
		s.failed = err
	}
	d.state = listed
	s.ahead += len(d.Files)
	if s.look != nil {
		for _, sub := range slices.Backward(d.dirs) {
			s.stack = append(s.stack, sub)
		}
	}
	s.wake.Broadcast()
}

// leave forgets the files in a directory.
func (s *scan) leave(d *Dir) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.ahead -= len(d.Files)
	d.Files = nil
	s.wake.Broadcast()
}

func (d *Dir) read() {
	handle, err := d.acquire()
	if err != nil {
		d.Err = err
		return
	}
	defer handle.release()
	names, xattrs, err := handle.list()
	if err != nil {
		d.Err = vanished(err)
		return
	}
	d.xattrs = xattrs
	slices.Sort(names)
	d.Files = make([]File, 0, len(names))
	o := d.scan.tree.o
	for _, name := range names {
		if o.Skip != nil && o.Skip(d.stat.id, name) {
			continue
		}
		d.Files = append(d.Files, d.file(handle, name))
		f := &d.Files[len(d.Files)-1]
		if o.Exclude != nil && o.Exclude.file(f.Path(), f.stat.mode.IsDir()) {
			d.Files = d.Files[:len(d.Files)-1]
			continue
		}
		if f.stat.mode.IsDir() {
			d.dirs = append(d.dirs, &Dir{Path: f.Path(), Up: d, name: name, stat: f.stat, scan: d.scan})
		}
	}
}

// file looks at a file in the directory.
func (d *Dir) file(handle *dirHandle, name string) File {
	f := File{Name: name, Dir: d}
	f.stat, f.Err = handle.lstat(name)
	switch f.stat.mode.Type() {
	case fs.ModeSocket:
		f.Err = ErrSocket
	case fs.ModeSymlink:
		f.target, f.Err = handle.readlink(name)
	}
	f.Err = vanished(bare(f.Err))
	return f
}
