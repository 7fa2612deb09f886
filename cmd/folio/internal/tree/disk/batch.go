package disk

import "github.com/foliofs/folio/cmd/folio/internal/tree"

// Sizes that bound the memory of a Writer.
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

// A job is one small file that a worker writes.
type job struct {
	dir  *outDir
	name string
	path string
	attr tree.Entry
	data []byte // in the batch's arena
}

// reserve returns space for a content in the current batch.
func (w *Writer) reserve(size int) []byte {
	if b := w.cur; b != nil && (b.used+size > arenaSize || len(b.jobs) == batchJobs) {
		w.send()
	}
	if w.cur == nil {
		w.cur = <-w.free
	}
	b := w.cur
	p := b.arena[b.used : b.used+size : b.used+size]
	b.used += size
	return p
}

func (w *Writer) send() {
	w.pending.Add(1)
	w.todo <- w.cur
	w.cur = nil
}

// drain waits until everything that was added is written.
func (w *Writer) drain() error {
	if w.cur != nil {
		w.send()
	}
	w.pending.Wait()
	return w.failure()
}

// work writes batches. After an error it only gives them back, so that nobody waits for a free one.
func (w *Writer) work() {
	for b := range w.todo {
		for i := range b.jobs {
			j := &b.jobs[i]
			if w.failure() == nil {
				w.fail(w.pathError(j.path, w.write(j)))
			}
			j.dir.release(w)
		}
		clear(b.jobs)
		b.jobs, b.used = b.jobs[:0], 0
		w.pending.Done()
		w.free <- b
	}
}

func (w *Writer) write(j *job) error {
	return w.file(j.dir, j.name, &j.attr, func(name string, attr *tree.Entry) error {
		f, err := j.dir.create(name)
		if err != nil {
			return err
		}
		return w.finishFile(j.dir, f, name, j.path, attr, writeAt(f, j.data, 0, attr))
	})
}
