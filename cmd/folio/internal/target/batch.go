package target

// Sizes that bound the memory of a Tree.
const (
	arenaSize = 1 << 20 // bytes of contents in one batch; larger contents are written in pieces, not by workers
	batchJobs = 64
)

// A batch is a number of small files on their way to a worker.
type batch struct {
	jobs  []job
	arena []byte
	used  int
}

type job struct {
	dir  *dir
	name string
	path string
	attr Attr
	data []byte // in the batch's arena
}

// room returns space for a content in the current batch.
func (t *Tree) room(size int) []byte {
	if b := t.cur; b != nil && (b.used+size > arenaSize || len(b.jobs) == batchJobs) {
		t.send()
	}
	if t.cur == nil {
		t.cur = <-t.free
	}
	b := t.cur
	p := b.arena[b.used : b.used+size : b.used+size]
	b.used += size
	return p
}

func (t *Tree) send() {
	t.pending.Add(1)
	t.todo <- t.cur
	t.cur = nil
}

// drain waits until everything that was added is written.
func (t *Tree) drain() error {
	if t.cur != nil {
		t.send()
	}
	t.pending.Wait()
	return t.failure()
}

func (t *Tree) work() {
	for b := range t.todo {
		for i := range b.jobs {
			j := &b.jobs[i]
			if t.failure() == nil {
				t.fail(pathError(j.path, t.write(j)))
			}
			j.dir.release(t)
		}
		clear(b.jobs)
		b.jobs, b.used = b.jobs[:0], 0
		t.pending.Done()
		t.free <- b
	}
}

func (t *Tree) write(j *job) error {
	return t.file(j.dir, j.name, &j.attr, func(name string, attr *Attr) error {
		f, err := j.dir.create(name)
		if err != nil {
			return err
		}
		return t.finishFile(j.dir, f, name, j.path, attr, writeAt(f, j.data, 0, attr))
	})
}
