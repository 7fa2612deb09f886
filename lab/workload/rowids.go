package workload

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"strconv"
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

// WriteInput writes the input of a process: a rowid a line, or a statement for each, within one
// transaction.
func WriteInput(j *Job, w io.Writer, input string) error {
	b := bufio.NewWriterSize(w, 1<<16)
	if input == "sql" {
		fmt.Fprintln(b, "BEGIN;")
	}
	j.eachRowid(func(id int64) {
		if input == "sql" {
			fmt.Fprintf(b, "SELECT id, path FROM folder_paths WHERE id = %d;\n", id)
		} else {
			_, _ = b.Write(append(strconv.AppendInt(b.AvailableBuffer(), id, 10), '\n'))
		}
	})
	if input == "sql" {
		fmt.Fprintln(b, "COMMIT;")
	}
	return b.Flush()
}

// ReadOutput sums up the output of a process.
func ReadOutput(r io.Reader) (a Answer, err error) {
	lines := bufio.NewScanner(r)
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
