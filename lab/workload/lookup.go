package workload

import (
	"errors"
	"strconv"
)

// lookup reads rows of a large table, by rowid or by a unique text: the experiment of seven
// drivers.
var lookup = &Workload{
	Name:  "lookup",
	Short: "rows by id and by path, raw and prepared, by one and by many goroutines",
	Flags: []Flag{
		{"rows", "6000000", "100000", "rows in the database", number},
		{"reads", "100000", "20000", "reads in a sample, of all goroutines together", number},
		{"goroutines", "1,22", "22", "goroutines, each with a connection of its own", number},
		{"by", "id,path", "", "the key of a lookup: id, path", "id,path"},
		{"paths", "random", "", "random, or numbered: neighbours in the index share long prefixes, and lie far apart in the table", "random,numbered"},
		{"mode", "raw,prepared", "", "raw prepares for every read, prepared once", "raw,prepared"},
		{"transaction", "each,one", "", "each read in a transaction of its own, or all of a goroutine in one", "each,one"},
		{"mmap", "0", "", "PRAGMA mmap_size of the drivers, in bytes; 0 leaves it as it is", anything},
	},
	Varied:      []string{"by", "paths", "transaction", "mode", "goroutines"},
	Unnamed:     Param{"paths", "random"}, // older results have no other choice
	Unit:        "read",
	Questions:   map[string]string{"id": "How fast is a row found by its rowid?", "path": "How fast is a row found by a unique text?"},
	Description: "Random rows of folder_paths are read; each answer is compared with the known one.",
	Repeats:     "seven ways to reach SQLite from Go (2025, 2026)",
	Database:    lookupFolder,
	Supports:    func(a *API) bool { return a.Lookups != nil },
	Needs:       "rows to look up",
	Start:       startLookup,
	Want:        wantLookup,
	Settings:    lookupSettings,
	Ops:         func(j *Job) int64 { return int64(j.Values.Int("reads")) },
	Warm:        warmReads,
}

// lookupFolder is the database that values ask for.
func lookupFolder(v Values) *Folder {
	return &Folder{Rows: v.Int("rows"), Numbered: v["paths"] == "numbered"}
}

// warmReads is a tenth of the measured reads.
func warmReads(j *Job) int64 { return int64(j.Values.Int("reads")) / 10 }

// lookupSettings: the database was made in rollback mode, and stays in it.
func lookupSettings(j *Job, kind string) map[string]string {
	if kind != "sql" {
		return nil
	}
	out := map[string]string{"journal_mode": "delete"}
	if size := j.Values["mmap"]; size != "0" {
		out["mmap_size"] = size
	}
	return out
}

// Lookups is a database of which rows can be looked up.
type Lookups interface {
	// Reader opens a connection for one goroutine.
	Reader(mode string) (Reader, error)
	Close() error
}

// A Reader looks rows up.
type Reader interface {
	// Path appends the path of a row to buf.
	Path(id int64, buf []byte) ([]byte, error)
	// ID is the row of a path.
	ID(path string) (int64, error)
	// Begin and End surround the reads of one transaction. They are not called where each read has
	// its own.
	Begin() error
	End() error
	Connection
}

// The phases draw different rows.
const (
	measured = 1
	warming  = 2
)

// reads returns the reads of worker i.
func (j *Job) reads(phase, i, n int) *pathList {
	return lookupFolder(j.Values).randomPaths(share(n, i, j.Values.Int("goroutines")), Rand(mix(j.Seed)+mix(uint64(phase<<32+i))))
}

func wantLookup(j *Job) (a Answer, err error) {
	for i := range j.Values.Int("goroutines") {
		a.Plus(j.reads(measured, i, j.Values.Int("reads")).answer())
	}
	return a, nil
}

// A lookupWorker is one goroutine: its connection, its list, and its answer.
type lookupWorker struct {
	reading
	job    *Job
	reader Reader
	byPath bool
	one    bool
	list   *pathList
	buf    [MaxPath]byte
}

func startLookup(j *Job, a *API) (*Work, error) {
	db, err := a.Lookups(j)
	if err != nil {
		return nil, err
	}
	w, err := readings(j, db, func() (*lookupWorker, error) {
		r, err := db.Reader(j.Values["mode"])
		return &lookupWorker{reading: reading{connection: r}, job: j, reader: r, byPath: j.Values["by"] == "path", one: j.Values["transaction"] == "one"}, err
	})
	if err == nil {
		w.Every = 8
	}
	return w, err
}

func (w *lookupWorker) draw(phase, i, n int) { w.list, w.found = w.job.reads(phase, i, n), Answer{} }

// read looks up the whole list and compares each answer.
func (w *lookupWorker) read(r *Recorder) (err error) {
	if w.one {
		if err := w.reader.Begin(); err != nil {
			return err
		}
		defer func() { err = errors.Join(err, w.reader.End()) }()
	}
	for i := range w.list.ids {
		id, path := w.list.at(i)
		start := r.Start()
		if w.byPath {
			err = w.id(id, path)
		} else {
			err = w.path(id, path)
		}
		if err != nil {
			return err
		}
		r.Stop(start)
	}
	return nil
}

func (w *lookupWorker) id(id int64, path string) error {
	got, err := w.reader.ID(path)
	if err != nil {
		return err
	}
	if got != id {
		return wrong("path %s is row %d, not %d", path, id, got)
	}
	w.found.Add(got, path)
	return nil
}

func (w *lookupWorker) path(id int64, path string) error {
	got, err := w.reader.Path(id, w.buf[:0])
	if err != nil {
		return err
	}
	if string(got) != path {
		return wrong("row %s has path %s, not %q", strconv.FormatInt(id, 10), path, got)
	}
	w.found.AddBytes(id, got)
	return nil
}

// answer returns the answer of a contender that finds everything.
func (l *pathList) answer() (a Answer) {
	for i := range l.ids {
		a.Add(l.at(i))
	}
	return a
}
