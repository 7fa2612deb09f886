package workload

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
	Ops:         countReads,
	Warm:        warmReads,
}

// lookupFolder is the database that values ask for.
func lookupFolder(v Values) *Folder {
	return &Folder{Rows: v.Int("rows"), Numbered: v["paths"] == "numbered"}
}

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

func startLookup(j *Job, a *API) (*Work, error) {
	db, err := a.Lookups(j)
	if err != nil {
		return nil, err
	}
	w, err := readings(j, db, func(worker int) (*reading, error) { return newLookup(j, db, worker) })
	if err == nil {
		w.Every = 8
	}
	return w, err
}

// newLookup makes a goroutine that compares each answer with the known one.
func newLookup(j *Job, db Lookups, worker int) (*reading, error) {
	reader, err := db.Reader(j.Values["mode"])
	if err != nil {
		return nil, err
	}
	var list *pathList
	buf := make([]byte, 0, MaxPath)
	r := &reading{connection: reader}
	r.draw = func(phase, n int) int {
		list = j.reads(phase, worker, n)
		return len(list.ids)
	}
	r.one = func(i int, found *Answer) error {
		id, path := list.at(i)
		got, err := reader.Path(id, buf)
		if err != nil {
			return err
		}
		if string(got) != path {
			return wrong("row %d has path %s, not %q", id, path, got)
		}
		found.AddBytes(id, got)
		return nil
	}
	if j.Values["by"] == "path" {
		r.one = func(i int, found *Answer) error {
			id, path := list.at(i)
			got, err := reader.ID(path)
			if err != nil {
				return err
			}
			if got != id {
				return wrong("path %s is row %d, not %d", path, id, got)
			}
			found.Add(got, path)
			return nil
		}
	}
	if j.Values["transaction"] == "one" {
		r.begin, r.end = reader.Begin, reader.End
	}
	return r, nil
}

// answer returns the answer of a contender that finds everything.
func (l *pathList) answer() (a Answer) {
	for i := range l.ids {
		a.Add(l.at(i))
	}
	return a
}
