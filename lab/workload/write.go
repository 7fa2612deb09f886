package workload

import (
	"fmt"
	"strconv"
	"strings"
	"sync/atomic"
)

// write stores records one by one, and lets the tasks of a queue live: the experiment of SQLite
// against the file system.
var write = &Workload{
	Name:  "write",
	Short: "records and a task queue, one writer and many, in each group of durability",
	Flags: []Flag{
		{"shape", "sequential,concurrent,tasks", "", "sequential: inserts in a loop; concurrent: by many writers; tasks: each is stored, changed and removed", "sequential,concurrent,tasks"},
		{"durability", "log-consistent,none,durable", "", "the promise of a commit: none, log-consistent, durable", groups},
		{"inserts", "10000", "300", "inserts of the one writer of sequential", number},
		{"writers", "100", "10", "goroutines of concurrent and tasks", number},
		{"records", "1000", "30", "inserts of each writer of concurrent", number},
		{"tasks", "100", "4", "tasks of each writer", number},
	},
	Varied: []string{"shape", "durability"},
	Unit:   "insert",
	Units:  map[string]string{"tasks": "commit"},
	Questions: map[string]string{
		"sequential": "How many records a second does one writer store?",
		"concurrent": "How many records a second do many writers store?",
		"tasks":      "How many changes a second does a task queue make?",
	},
	Description: "Each operation is a transaction of its own on a table with an index, or writes a file of its own; the store is read back at the end.",
	Repeats:     "SQLite or the file system, for records and for a task queue (2022)",
	Supports:    func(a *API) bool { return a.Tasks != nil },
	Needs:       "records and tasks",
	Start:       startWrite,
	Want:        wantWrite,
	Ops:         func(j *Job) int64 { return newShape(j).ops() },
	Settings:    writeSettings,
}

// writeSettings returns the settings of a group. SQLite, and a contender that uses its words, has a
// log and syncs as the group demands.
func writeSettings(j *Job, kind string) map[string]string {
	rank := map[Group]int{None: 0, Consistent: 1, Durable: 2}[j.Group]
	switch kind {
	case "sql", "engine":
		return map[string]string{"journal_mode": "wal", "synchronous": strconv.Itoa(rank)}
	case "files":
		if j.Group == Durable {
			return map[string]string{"synced": "true"}
		}
		return map[string]string{"write": [...]string{"plain", "rename"}[rank]}
	case "kv", "volume":
		return map[string]string{"sync": [...]string{"never", "log", "commit"}[rank]}
	case "server":
		return map[string]string{"synchronous_commit": [...]string{"", "off", "on"}[rank], "fsync": "on"}
	}
	return nil
}

// A Task is a record of the queue.
type Task struct {
	ID     int64  `json:"id"`
	Status string `json:"status"`
	Cmd    string `json:"cmd"`
	Args   string `json:"args"` // a JSON list
	Output string `json:"output"`
}

// TaskSchema is the table in SQL.
var TaskSchema = []string{
	"CREATE TABLE task (id INTEGER PRIMARY KEY, status TEXT, cmd TEXT, args TEXT, output TEXT)",
	"CREATE INDEX task_status ON task (status)",
}

// Tasks is a store of tasks.
type Tasks interface {
	// Session opens a connection for one goroutine.
	Session() (TaskSession, error)
	// Busy counts how often an operation was refused because of another writer, and tried again.
	Busy() int64
	Close() error
}

// A TaskSession changes tasks; each call commits.
type TaskSession interface {
	Insert(t *Task) error
	SetStatus(id int64, status string) error
	SetOutput(id int64, output string) error
	Delete(id int64) error
	// Each calls fn for every task, with its arguments, which tell it from other tasks, its status
	// and its output. They are valid until fn returns.
	Each(fn func(args, status, output []byte) error) error
	session
}

// A shape says how much a job writes.
type shape struct {
	name            string
	writers, each   int  // tasks of each writer
	live            bool // tasks live and go; the last of each writer stays, so that there is something to check
	commitsEachTask int
}

func newShape(j *Job) shape {
	v := j.Values
	s := shape{name: v["shape"], writers: v.Int("writers"), each: v.Int("tasks"), live: true, commitsEachTask: 3 + len(outputs)}
	switch s.name {
	case "sequential":
		s = shape{s.name, 1, v.Int("inserts"), false, 1}
	case "concurrent":
		s = shape{s.name, s.writers, v.Int("records"), false, 1}
	}
	return s
}

// ops counts all commits. A task that stays has one less, because it is not deleted.
func (s shape) ops() int64 {
	n := int64(s.writers) * int64(s.each) * int64(s.commitsEachTask)
	if s.live {
		n -= int64(s.writers)
	}
	return n
}

// The states that a task goes through.
const (
	statusNew     = "new"
	statusRunning = "running"
)

// outputs are the outputs of a task in turn: it grows by a line each time.
var outputs = func() (all [10]string) {
	for i := range all {
		all[i] = strings.Repeat("a line of output\n", i+1)
	}
	return all
}()

// newTask returns number i of a writer. Its ID comes later, because the IDs of a real queue grow
// with time.
func newTask(writer, i int) *Task {
	return &Task{
		Status: statusNew, Cmd: "make",
		Args:   fmt.Sprintf(`["-C","work/%d","-j","%d","all"]`, writer, i),
		Output: fmt.Sprintf("queued by %d as number %d", writer, i),
	}
}

// stays reports whether a task is still there when all is done.
func (s shape) stays(i int) bool { return !s.live || i == s.each-1 }

func wantWrite(j *Job) (a Answer, err error) {
	s := newShape(j)
	for writer := range s.writers {
		for i := range s.each {
			if !s.stays(i) {
				continue
			}
			t := newTask(writer, i)
			if s.live {
				t.Status, t.Output = statusRunning, outputs[len(outputs)-1]
			}
			a.Add(0, t.Args+"\n"+t.Status+"\n"+t.Output)
		}
	}
	return a, nil
}

// startWrite opens the store and a session for each writer.
func startWrite(j *Job, a *API) (*Work, error) {
	s := newShape(j)
	store, err := a.Tasks(j)
	if err != nil {
		return nil, err
	}
	w := &Work{Busy: store.Busy, Close: store.Close}
	list, err := sessions(w, s.writers, store.Session)
	if err != nil {
		return nil, err
	}
	ids := new(atomic.Int64)
	for i, session := range list {
		w.Workers = append(w.Workers, newTaskWriter(s, i, session, ids).write)
	}
	w.Answer = func() (Answer, error) { return left(list[0]) }
	return w, nil
}

// left returns the content of a store.
func left(s TaskSession) (a Answer, err error) {
	var text []byte
	err = s.Each(func(args, status, output []byte) error {
		text = append(append(text[:0], args...), '\n')
		text = append(append(text, status...), '\n')
		a.AddBytes(0, append(text, output...))
		return nil
	})
	return a, err
}

// A taskWriter is one goroutine. Its tasks are made before the clock starts.
type taskWriter struct {
	shape   shape
	session TaskSession
	tasks   []*Task
	ids     *atomic.Int64 // the last that was given to a task
}

func newTaskWriter(s shape, number int, session TaskSession, ids *atomic.Int64) *taskWriter {
	w := &taskWriter{shape: s, session: session, ids: ids}
	for i := range s.each {
		w.tasks = append(w.tasks, newTask(number, i))
	}
	return w
}

// write does all tasks.
func (w *taskWriter) write(r *Recorder) error {
	for i, t := range w.tasks {
		if err := w.one(r, t, w.shape.stays(i)); err != nil {
			return err
		}
	}
	return nil
}

// one stores a task and, if tasks live, changes and deletes it.
func (w *taskWriter) one(r *Recorder, t *Task, stays bool) error {
	t.ID = w.ids.Add(1)
	err := commit(r, func() error { return w.session.Insert(t) })
	if !w.shape.live {
		return err
	}
	if err == nil {
		err = commit(r, func() error { return w.session.SetStatus(t.ID, statusRunning) })
	}
	for i := 0; i < len(outputs) && err == nil; i++ {
		err = commit(r, func() error { return w.session.SetOutput(t.ID, outputs[i]) })
	}
	if err == nil && !stays {
		err = commit(r, func() error { return w.session.Delete(t.ID) })
	}
	return err
}

// commit times one operation.
func commit(r *Recorder, fn func() error) error {
	start := r.Start()
	err := fn()
	r.Stop(start)
	return err
}

// imports stores a whole tree at once.
var imports = &Workload{
	Name:  "import",
	Short: "a tree of files stored at once",
	Flags: []Flag{
		{"tree", "goroot/src", "generated", "a tree as in walk", anything},
		{"entries", "10000", "500", "files in a generated tree", number},
		{"size", "11000", "", "bytes of a generated file on average", number},
		{"durability", "none,durable", "", "the promise at the end: none, log-consistent, durable", groups},
	},
	Varied:      []string{"tree", "durability"},
	Unit:        "entry",
	Question:    "How fast is a tree stored?",
	Description: "Names and contents of all directories and regular files, in one transaction where there are any; read back afterwards.",
	Check:       checkTrees,
	Supports:    func(a *API) bool { return a.Tree != nil },
	Needs:       "tree of files",
	Start:       startImport,
	Want:        func(j *Job) (Answer, error) { return wantTree(j, true) },
	Settings:    writeSettings, // each contender in the way of its kind
}

func startImport(j *Job, a *API) (*Work, error) {
	src, err := j.jobTree()
	if err != nil {
		return nil, err
	}
	all, err := visit(src, true) // also brings it into the system's cache, the same for all
	if err != nil {
		return nil, err
	}
	t, err := a.Tree(j)
	if err != nil {
		return nil, err
	}
	answer := func() (a Answer, err error) {
		tree, err := t.FS()
		if err != nil {
			return a, err
		}
		return visit(tree, true)
	}
	return single(t, answer, func() (int64, error) { return all.Count, t.Import(src) })
}
