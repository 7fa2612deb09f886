package claim

// The documents that have figures of claims in them.
const (
	readme  = "README.md"
	engine  = "docs/engine.md"
	command = "docs/command.md"
)

// Rows are all claims, by document, in the order in which they stand there.
var Rows = []Row{
	{"walk", readme, "walk three files in as many directories, `fs.WalkDir`", []*Claim{
		{Name: "walk-three", Beside: "files", From: walkThree, Case: "walk/tree=three/*", Ours: "folio", Peers: osFiles, Asked: ask(12)},
		{Name: "walk-2022", Beside: "the file system in SQLite of 2022, by the faster driver", From: walkThree, Case: "walk/tree=three/*", Ours: "folio", Peers: []string{"sqlstore:mattn-2022", "sqlstore:modernc-2022"}},
	}},
	{"walk-goroot", readme, "walk the Go distribution", []*Claim{
		{Name: "walk-goroot", Beside: "files", From: walkGoroot, Case: "walk/tree=goroot/*", Ours: "folio", Peers: osFiles, Asked: ask(5)},
	}},
	{"get", readme, "a row by rowid, 1 and 22 goroutines", lookups("get", "id", 8, 6)},
	{"find", readme, "a row by a unique path, 1 and 22 goroutines", lookups("find", "path", 4, 4)},
	{"rowids", readme, "a million rowids from standard input, a whole process", []*Claim{
		{Name: "rowids", Beside: "the `sqlite3` shell, one transaction", From: rowids, Case: "rowids/order=random/*", Ours: "engine", Peers: []string{"shell"}, Asked: ask(12)},
	}},
	{"insert-loop", readme, "10,000 inserts in a loop, log-consistent, one index", []*Claim{
		{Name: "insert-loop", Beside: "mattn", From: inserts, Case: "write/shape=sequential/durability=log-consistent/*", Ours: "engine", Peers: mattn, Asked: ask(4)},
	}},
	{"insert-crowd", readme, "100 goroutines, 1,000 inserts each, the same", []*Claim{
		{Name: "insert-crowd", Beside: "mattn", From: inserts, Case: "write/shape=concurrent/durability=log-consistent/*", Ours: "engine", Peers: mattn, Asked: ask(8)},
	}},
	{"queue-rows", readme, "a task queue, 100 writers and 10,000 tasks, the same", []*Claim{
		{Name: "queue-rows", Beside: "the fastest of four drivers", From: taskRows, Case: "write/shape=tasks/durability=log-consistent/*", Ours: "engine", Peers: []string{"mattn:sql", "mattn:native", "crawshaw", "ncruces:native", "modernc"}, Asked: ask(5)},
	}},
	{"insert-leaves", engine, "what 100 goroutines with 1,000 inserts each leave", []*Claim{
		{Name: "insert-log", Kind: Worst, From: inserts, Case: "write/shape=concurrent/durability=log-consistent/*", Ours: "engine", Unit: "log-MiB", Asked: ask(16), Label: "MiB of log"},
		{Name: "insert-busy", Kind: Worst, From: inserts, Case: "write/shape=concurrent/durability=log-consistent/*", Ours: "engine", Unit: "busy", Asked: ask(0), Label: "refusals"},
	}},
}

// Who stands beside ours.
var (
	osFiles = []string{"files:os"}
	mattn   = []string{"mattn:sql", "mattn:native"}
	drivers = []string{"mattn:sql", "mattn:native", "crawshaw", "zombiezen"}
)

// lookups are the claims of rows that are looked up, by one goroutine and by 22.
func lookups(name, by string, one, many float64) []*Claim {
	const beside = "the fastest of three drivers, prepared"
	path := "lookup/by=" + by + "/cache=warm/transaction=each/mode=prepared/goroutines="
	return []*Claim{
		{Name: name + "-1", Beside: beside, From: lookup, Case: path + "1/*", Ours: "engine", Peers: drivers, Asked: ask(one)},
		{Name: name + "-22", Beside: beside, From: lookup, Case: path + "22/*", Ours: "engine", Peers: drivers, Asked: ask(many)},
		{Name: name + "-allocs", Kind: Worst, From: lookup, Case: path + "1/*", Ours: "engine", Unit: "allocs/op", Asked: ask(0), Label: "allocations"},
	}
}
