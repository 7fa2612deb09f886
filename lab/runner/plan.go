package runner

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"path/filepath"
	"slices"

	"github.com/foliofs/folio/lab/result"
	"github.com/foliofs/folio/lab/workload"
)

// A task is a case: every contender does it once in a round.
type task struct {
	result.Case
	workload *workload.Workload
	db       string // the database that all read; "" if there is none
}

// plan makes the tasks of a run: the cases of every workload on every directory. Rule 9 is kept by
// the workloads, which make a case of either kind of transaction unless the user wants one of them
// only.
func plan(o *Options, dirs []result.Dir) ([]*task, error) {
	var tasks []*task
	names := dirNames(dirs)
	for _, w := range o.Workloads {
		cases, err := w.Cases(o.Values[w.Name])
		if err != nil {
			return nil, fmt.Errorf("--%s.%w", w.Name, err)
		}
		for i, dir := range dirs {
			for _, c := range cases {
				tasks = append(tasks, &task{Case: c.On(dir.Path, names[i]), workload: w})
			}
		}
	}
	return tasks, nil
}

// dirNames are short names of directories: their file systems, with a number where that is not
// enough. A single directory needs no name.
func dirNames(dirs []result.Dir) []string {
	if len(dirs) == 1 {
		return []string{""}
	}
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

// digest tells plans apart: runs of different ones do not go into one file.
func digest(tasks []*task, seed uint64) string {
	h := sha256.New()
	e := json.NewEncoder(h)
	for _, t := range tasks {
		_ = e.Encode(t.Case) // a hash takes everything
	}
	_ = e.Encode(seed)
	return hex.EncodeToString(h.Sum(nil)[:8])
}

// A turn is one sample of a participant in a task.
type turn struct {
	task        *task
	participant *participant
	round       int // from 1
}

// turns lists all that there are to take. In each round the first to take its turn is another.
func (r *run) turns() []turn {
	var turns []turn
	for round := 1; round <= r.o.Rounds; round++ {
		for _, t := range r.tasks {
			taking := slices.Clone(r.participants)
			taking = slices.DeleteFunc(taking, func(e *participant) bool { return e.unsupported(t) != "" })
			for i := range taking {
				turns = append(turns, turn{t, taking[(i+round-1)%len(taking)], round})
			}
		}
	}
	return turns
}

func (t turn) cell() result.Cell {
	return result.Cell{Case: t.task.ID, Contender: t.participant.record.ID}
}

// String describes the turn for a user who waits for it.
func (t turn) String() string { return t.task.ID + " " + t.participant.record.ID }
