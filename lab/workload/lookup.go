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
	Supports:    func(a *API) bool { return a.Queries != nil },
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

// PathOf and IDOf are the statements of the lookups.
var (
	PathOf = &Statement{SQL: "SELECT path FROM folder_paths WHERE id = ?", Columns: []Kind{Text}}
	IDOf   = &Statement{SQL: "SELECT id FROM folder_paths WHERE path = ?", Columns: []Kind{Integer}}
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

func startLookup(j *Job, a *API) (*Work, error) {
	db, err := a.Queries(j)
	if err != nil {
		return nil, err
	}
	w, err := readings(j, db, func(worker int) (*reading, error) { return newLookup(j, db, worker) })
	if err == nil {
		w.Every = 8
	}
	return w, err
}

// newLookup makes a goroutine that compares each answer with the known one. It has one function for
// all rows, and one list of arguments, so that it allocates nothing while the clock runs.
func newLookup(j *Job, db Queries, worker int) (*reading, error) {
	var list *pathList
	var id int64 // of the current read, with its path, and how many rows were found so far
	var path string
	var rows int
	r := new(reading)
	statement, args := PathOf, []Value{{Kind: Integer}}
	take := func(row Row) error {
		got := row.Bytes(0)
		if rows++; string(got) != path {
			return wrong("row %d has path %s, not %q", id, path, got)
		}
		r.found.AddBytes(id, got)
		return nil
	}
	if j.Values["by"] == "path" {
		statement, args = IDOf, []Value{{Kind: Text}}
		take = func(row Row) error {
			got := row.Int(0)
			if rows++; got != id {
				return wrong("path %s is row %d, not %d", path, id, got)
			}
			r.found.Add(got, path)
			return nil
		}
	}
	q, err := db.Querier(statement, j.Values["mode"])
	if err != nil {
		return nil, err
	}
	r.connection = q
	r.draw = func(phase, n int) int {
		list = j.reads(phase, worker, n)
		return len(list.ids)
	}
	r.one = func(i int) error {
		id, path = list.at(i)
		args[0].Int, args[0].Text, rows = id, path, 0
		err := q.Query(args, take)
		if err == nil && rows != 1 {
			err = wrong("row %d was found %d times", id, rows)
		}
		return err
	}
	if j.Values["transaction"] == "one" {
		r.begin, r.end = q.Begin, q.End
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
