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

// FileTasks lets an API keep each task in a file of its own: JSON, written whole whenever it
// changes, by a writer that remembers its tasks.
func FileTasks(a workload.API, open func(j *workload.Job) (Files, error)) workload.API {
	a.Tables = []*workload.Table{workload.TaskTable}
	a.Rows = func(j *workload.Job, t *workload.Table) (workload.Rows, error) {
		f, err := open(j)
		return fileRows{f}, err
	}
	return a
}

type fileRows struct{ Files }

func (f fileRows) Busy() int64 { return 0 }

func (f fileRows) Session() (workload.RowSession, error) {
	return &fileSession{f.Files, make(map[int64]*task)}, nil
}

// A task is the content of a file: the columns of TaskTable.
type task struct {
	ID     int64  `json:"id"`
	Status string `json:"status"`
	Cmd    string `json:"cmd"`
	Args   string `json:"args"` // a JSON list
	Output string `json:"output"`
}

// column returns a column other than the key.
func (t *task) column(i int) *string {
	return [...]*string{1: &t.Status, &t.Cmd, &t.Args, &t.Output}[i]
}

// Int and Bytes implement workload.Row.
func (t *task) Int(int) int64 { return t.ID }

func (t *task) Bytes(column int) []byte { return []byte(*t.column(column)) }

// A fileSession is one writer, with its own tasks.
type fileSession struct {
	files Files
	mine  map[int64]*task
}

func fileName(id int64) string { return strconv.FormatInt(id, 10) + ".json" }

func (s *fileSession) Put(row []workload.Value) error {
	t := &task{ID: row[0].Int}
	for i := 1; i < len(row); i++ {
		*t.column(i) = row[i].Text
	}
	s.mine[t.ID] = t
	return s.put(t)
}

func (s *fileSession) put(t *task) error {
	data, err := json.Marshal(t)
	if err != nil {
		return err
	}
	return s.files.Put(fileName(t.ID), data)
}

// Set changes a task and writes it. It first reads a task that another session has made; only one
// writer changes a task.
func (s *fileSession) Set(id int64, column int, v workload.Value) error {
	t := s.mine[id]
	if t == nil {
		var err error
		if t, err = s.read(fileName(id)); err != nil {
			return err
		}
		s.mine[id] = t
	}
	*t.column(column) = v.Text
	return s.put(t)
}

func (s *fileSession) read(name string) (*task, error) {
	data, err := s.files.ReadFile(name)
	if err != nil {
		return nil, err
	}
	t := new(task)
	return t, json.Unmarshal(data, t)
}

func (s *fileSession) Delete(id int64) error {
	delete(s.mine, id)
	return s.files.Remove(fileName(id))
}

func (s *fileSession) Each(fn func(row workload.Row) error) error {
	entries, err := s.files.ReadDir()
	if err != nil {
		return err
	}
	for _, e := range entries {
		t, err := s.read(e.Name())
		if err == nil {
			err = fn(t)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func (s *fileSession) Settings() (map[string]string, error) { return s.files.Settings() }

func (s *fileSession) Close() error { return nil }
