package harness

import (
	"encoding/json"
	"io/fs"
	"strconv"

	"github.com/foliofs/folio/lab/workload"
)

// Files is a file system whose files are replaced as the group of the job demands. It is safe for
// concurrent use.
type Files interface {
	// Put gives a file a new content, making it if need be.
	Put(name string, data []byte) error
	ReadFile(name string) ([]byte, error)
	Remove(name string) error
	ReadDir() ([]fs.DirEntry, error)
	// Settings says how Put keeps its promise.
	Settings() (map[string]string, error)
	Close() error
}

// FileTasks keeps each task in a file of its own: JSON, written whole whenever it changes, by a
// writer that remembers its tasks.
func FileTasks(f Files) workload.Tasks { return fileTasks{f} }

type fileTasks struct{ Files }

func (f fileTasks) Busy() int64 { return 0 }

func (f fileTasks) Session() (workload.TaskSession, error) {
	return &fileSession{f.Files, make(map[int64]*workload.Task)}, nil
}

// A fileSession is one writer, with its own tasks.
type fileSession struct {
	files Files
	mine  map[int64]*workload.Task
}

func fileName(id int64) string { return strconv.FormatInt(id, 10) + ".json" }

func (s *fileSession) Insert(t *workload.Task) error {
	mine := *t
	s.mine[t.ID] = &mine
	return s.put(&mine)
}

func (s *fileSession) put(t *workload.Task) error {
	data, err := json.Marshal(t)
	if err != nil {
		return err
	}
	return s.files.Put(fileName(t.ID), data)
}

// change changes a task and writes it. It first reads a task that another session has made; only
// one writer changes a task.
func (s *fileSession) change(id int64, fn func(t *workload.Task)) error {
	t := s.mine[id]
	if t == nil {
		var err error
		if t, err = s.read(fileName(id)); err != nil {
			return err
		}
		s.mine[id] = t
	}
	fn(t)
	return s.put(t)
}

func (s *fileSession) read(name string) (*workload.Task, error) {
	data, err := s.files.ReadFile(name)
	if err != nil {
		return nil, err
	}
	t := new(workload.Task)
	return t, json.Unmarshal(data, t)
}

func (s *fileSession) SetStatus(id int64, status string) error {
	return s.change(id, func(t *workload.Task) { t.Status = status })
}

func (s *fileSession) SetOutput(id int64, output string) error {
	return s.change(id, func(t *workload.Task) { t.Output = output })
}

func (s *fileSession) Delete(id int64) error {
	delete(s.mine, id)
	return s.files.Remove(fileName(id))
}

func (s *fileSession) Each(fn func(args, status, output []byte) error) error {
	entries, err := s.files.ReadDir()
	if err != nil {
		return err
	}
	for _, e := range entries {
		t, err := s.read(e.Name())
		if err == nil {
			err = fn([]byte(t.Args), []byte(t.Status), []byte(t.Output))
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func (s *fileSession) Settings() (map[string]string, error) { return s.files.Settings() }

func (s *fileSession) Close() error { return nil }
