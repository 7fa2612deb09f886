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
	Supports:    takes(TaskTable),
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

// The columns of TaskTable that change, and the one that tells a task from others.
const (
	taskStatus = 1
	taskArgs   = 3
	taskOutput = 4
)

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

// newTask returns number i of a writer. Its key comes later, because the keys of a real queue grow
// with time.
func newTask(writer, i int) []Value {
	return []Value{
		Int(0), Str(statusNew), Str("make"),
		Str(fmt.Sprintf(`["-C","work/%d","-j","%d","all"]`, writer, i)),
		Str(fmt.Sprintf("queued by %d as number %d", writer, i)),
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
				t[taskStatus], t[taskOutput] = Str(statusRunning), Str(outputs[len(outputs)-1])
			}
			a.Add(0, t[taskArgs].Text+"\n"+t[taskStatus].Text+"\n"+t[taskOutput].Text)
		}
	}
	return a, nil
}

func startWrite(j *Job, a *API) (*Work, error) {
	s := newShape(j)
	keys := new(atomic.Int64) // the last that was given to a task
	var text []byte
	return writers(j, a, TaskTable, s.writers, func(i int, session RowSession) Worker {
		return newTaskWriter(s, i, session, keys).write
	}, func(a *Answer, row Row) {
		text = append(append(text[:0], row.Bytes(taskArgs)...), '\n')
		text = append(append(text, row.Bytes(taskStatus)...), '\n')
		a.AddBytes(0, append(text, row.Bytes(taskOutput)...))
	})
}

// A taskWriter is one goroutine. Its tasks are made before the clock starts.
type taskWriter struct {
	shape   shape
	session RowSession
	tasks   [][]Value
	keys    *atomic.Int64
}

func newTaskWriter(s shape, number int, session RowSession, keys *atomic.Int64) *taskWriter {
	w := &taskWriter{shape: s, session: session, keys: keys}
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
func (w *taskWriter) one(r *Recorder, t []Value, stays bool) error {
	key := w.keys.Add(1)
	t[0] = Int(key)
	err := commit(r, func() error { return w.session.Put(t) })
	if !w.shape.live {
		return err
	}
	if err == nil {
		err = commit(r, func() error { return w.session.Set(key, taskStatus, Str(statusRunning)) })
	}
	for i := 0; i < len(outputs) && err == nil; i++ {
		err = commit(r, func() error { return w.session.Set(key, taskOutput, Str(outputs[i])) })
	}
	if err == nil && !stays {
		err = commit(r, func() error { return w.session.Delete(key) })
	}
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
