package runner

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"maps"
	"path/filepath"
	"slices"

	"github.com/foliofs/folio/lab/result"
	"github.com/foliofs/folio/lab/workload"
)

// A task is a case on a directory: every contender does it once in a round.
type task struct {
	workload *workload.Workload
	values   workload.Values // of the flags, with the case's parameters in the place of lists
	dir      string
	record   result.Case
	db       string // the database that all read; "" if there is none
}

// plan makes the tasks of a run: the cases of every workload on every directory. Rule 9 is kept by
// the workloads, which make a case of either kind of transaction unless the user wants one of them
// only.
func plan(o *Options, dirs []result.Dir) ([]*task, error) {
	var tasks []*task
	names := dirNames(dirs)
	for _, w := range o.Workloads {
		values := o.Values[w.Name]
		cases, err := w.Cases(values)
		if err != nil {
			return nil, fmt.Errorf("--%s.%w", w.Name, err)
		}
		for i, dir := range dirs {
			for _, c := range cases {
				if len(dirs) > 1 {
					c.Params = append(slices.Clip(c.Params), workload.Param{Name: "dir", Value: names[i]})
				}
				tasks = append(tasks, newTask(w, c, values, dir.Path))
			}
		}
	}
	return tasks, nil
}

// dirNames are short names of directories: their file systems, with a number where that is not
// enough.
func dirNames(dirs []result.Dir) []string {
	var names []string
	for _, d := range dirs {
		name := d.FileSystem
		if name == "" {
			name = filepath.Base(d.Path)
		}
		for n := 2; slices.Contains(names, name); n++ {
			name = fmt.Sprintf("%s-%d", d.FileSystem, n)
		}
		names = append(names, name)
	}
	return names
}

func newTask(w *workload.Workload, c workload.Case, values workload.Values, dir string) *task {
	t := &task{workload: w, values: maps.Clone(values), dir: dir}
	t.record = result.Case{
		ID: c.ID(w), Workload: w.Name, Question: c.Question, Group: c.Group, Dir: dir, Unit: c.Unit,
		Repeats: c.Repeats, Description: c.Description,
	}
	varied := make(map[string]bool)
	for _, p := range c.Params {
		t.values[p.Name], varied[p.Name] = p.Value, true
		t.record.Params = append(t.record.Params, p)
	}
	for _, f := range w.Flags {
		if !varied[f.Name] {
			t.record.Fixed = append(t.record.Fixed, result.Param{Name: f.Name, Value: t.values[f.Name]})
		}
	}
	return t
}

// digest tells plans apart: runs of different ones do not go into one file.
func digest(tasks []*task, seed uint64) string {
	h := sha256.New()
	e := json.NewEncoder(h)
	for _, t := range tasks {
		_ = e.Encode(t.record) // a hash takes everything
	}
	_ = e.Encode(seed)
	return hex.EncodeToString(h.Sum(nil)[:8])
}
