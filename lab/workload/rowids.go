package workload

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"time"
)

// rowids reads rowids from standard input and prints the rows, as a whole process: the experiment
// of a storage engine in Go.
var rowids = &Workload{
	Name:  "rowids",
	Short: "rowids from standard input, answered by whole processes",
	Flags: []Flag{
		{"rows", "1000000", "100000", "rows in the database", number},
		{"count", "1000000", "20000", "rowids", number},
		{"order", "random", "", "random or sequential", "random,sequential"},
	},
	Varied:      []string{"order"},
	Unit:        "row",
	Question:    "How fast does a process answer a list of rowids?",
	Description: "A process is started, reads rowids, and prints id|path of each row, all in one transaction; its output is compared.",
	Repeats:     "a storage engine in Go that reads SQLite files (2025)",
	Database:    func(v Values) *Folder { return &Folder{Rows: v.Int("rows")} },
	Supports:    func(a *API) bool { return a.Rowids != nil || a.Queries != nil },
	Needs:       "process that answers rowids",
	Start:       startRowids,
	Want:        wantRowids,
	Ops:         func(j *Job) int64 { return int64(j.Values.Int("count")) },
	Process:     true,
}

// eachRowid calls fn for every rowid of a job.
func (j *Job) eachRowid(fn func(id int64)) {
	rows, r := uint64(j.Values.Int("rows")), Rand(mix(j.Seed))
	for i := range j.Values.Int("count") {
		n := uint64(i)
		if j.Values["order"] == "random" {
			n = r.Next()
		}
		fn(int64(n%rows) + 1)
	}
}

func wantRowids(j *Job) (a Answer, err error) {
	var path []byte
	j.eachRowid(func(id int64) {
		path = AppendPath(path[:0], 0, id)
		a.AddBytes(id, path)
	})
	return a, nil
}

// startRowids prepares a process whose standard input and output are files, so that no other
// process works at the same time. It is the contender's own program, unless the API has a command.
func startRowids(j *Job, a *API) (*Work, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	cmd := exec.Command(self, "rowids", a.Name, j.DB)
	if a.Rowids != nil {
		cmd = a.Rowids(j.DB)
	}
	in, err := os.Create(filepath.Join(j.Dir, "in"))
	if err != nil {
		return nil, err
	}
	out, err := os.Create(filepath.Join(j.Dir, "out"))
	if err != nil {
		return nil, errors.Join(err, in.Close())
	}
	end := func() error { return errors.Join(in.Close(), out.Close()) }
	if err := j.writeRowids(in, a.Rowids != nil); err != nil {
		return nil, errors.Join(err, end())
	}
	cmd.Stdin, cmd.Stdout, cmd.Stderr = in, out, os.Stderr
	return &Work{
		Settings: []map[string]string{nil},
		Workers: []Worker{func(r *Recorder) error {
			begin := time.Now()
			err := cmd.Run()
			r.Many(int64(j.Values.Int("count")), time.Since(begin))
			return err
		}},
		Answer:  func() (Answer, error) { return readRows(out) },
		Process: func() *os.ProcessState { return cmd.ProcessState },
		Close:   end,
	}, nil
}

// writeRowids writes the input of a process, and goes back to its begin: a rowid a line, or a
// statement for each, within one transaction.
func (j *Job) writeRowids(f *os.File, statements bool) error {
	b := bufio.NewWriterSize(f, 1<<16)
	if statements {
		fmt.Fprintln(b, "BEGIN;")
	}
	j.eachRowid(func(id int64) {
		if statements {
			fmt.Fprintf(b, "SELECT id, path FROM folder_paths WHERE id = %d;\n", id)
		} else {
			_, _ = b.Write(append(strconv.AppendInt(b.AvailableBuffer(), id, 10), '\n'))
		}
	})
	if statements {
		fmt.Fprintln(b, "COMMIT;")
	}
	if err := b.Flush(); err != nil {
		return err
	}
	_, err := f.Seek(0, io.SeekStart)
	return err
}

// readRows sums up the output of a process.
func readRows(f *os.File) (a Answer, err error) {
	if _, err := f.Seek(0, io.SeekStart); err != nil {
		return a, err
	}
	lines := bufio.NewScanner(f)
	for lines.Scan() {
		number, path, ok := bytes.Cut(lines.Bytes(), []byte("|"))
		id, err := strconv.ParseInt(string(number), 10, 64)
		if !ok || err != nil {
			return a, wrong("line %d is %q, not id|path", a.Count+1, lines.Text())
		}
		a.AddBytes(id, path)
	}
	return a, lines.Err()
}
