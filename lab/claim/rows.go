package claim

// A Place is where figures stand: between two marks in a document.
type Place struct{ Doc, Part string }

// The places that there are.
var (
	readme   = Place{"README.md", "speed"}
	engine   = Place{"docs/engine.md", "engine"}
	syncing  = Place{"docs/command.md", "sync"}
	grepping = Place{"docs/command.md", "grep"}
)

// Rows are all claims, in the order in which they stand in the documents.
var Rows = []Row{
	{"walk", readme, "walk three files in as many directories, `fs.WalkDir`", []*Claim{
		faster("walk-three", "files", walkThree, "walk/tree=three/*", "folio", osFiles, 20),
		faster("walk-2022", "the file system in SQLite of 2022, by the fastest of four drivers",
			walkThree, "walk/tree=three/*", "folio", in2022, noGoal,
		),
	}},
	{"walk-goroot", readme, "walk the Go distribution", []*Claim{
		faster("walk-goroot", "files", walkGoroot, "walk/tree=goroot/*", "folio", osFiles, 6),
	}},
	{"cold", readme, "walk the Go sources; read them, with nothing in memory", []*Claim{
		faster("cold-walk", "files on the same disk", cold, "Cold/walk/*", "folio", plainFiles, 6),
		faster("cold-read", "files on the same disk", cold, "Cold/read/*", "folio", plainFiles, 8),
	}},
	{"walk-million", readme, "walk an entry of 1,000,000 files", []*Claim{
		growth("walk-million", "of 10,000 files",
			walkMillion, "Walk/tree=*/fs=folio", "1M", []string{"10k"}, "ns/each", "the time", 1.3,
		),
	}},
	{"stat", readme, "`Stat` of one file; of all of the Go distribution, at random", []*Claim{
		faster("stat-one", "files", stat, "Stat/files=one/*", "fs=folio", osFS, 10),
		faster("stat-all", "files", stat, "Stat/files=all/*", "fs=folio", osFS, 4.5),
	}},
	{"readfile", readme, "`ReadFile` of the Go sources, in order; at random", []*Claim{
		faster("readfile-walk", "files", readFile, "ReadFile/order=walk/*", "fs=folio", osFS, 2),
		faster("readfile-random", "files", readFile, "ReadFile/order=random/*", "fs=folio", osFS, 2),
	}},
	{"readfile-buffer", readme, "the same at random, each opened and read into one buffer", []*Claim{
		faster("readfile-buffer", "files", buffer, "Buffer/*", "folio", plainFiles, 3),
	}},
	{"http", readme, "the same by HTTP, over 8 connections", []*Claim{
		faster("http-files", "`http.FileServer` over files", serving, "HTTP/*", "folio", plainFiles, noGoal),
		faster("http-nginx", "nginx", serving, "HTTP/*", "folio", []string{"nginx"}, noGoal),
	}},
	{"writefile", readme, "`WriteFile` of 100 bytes, a new file", []*Claim{
		faster("writefile-plain", "files, plainly", writing, "WriteFile/*", "folio", plain, 1.2),
		faster("writefile-rename", "by temporary file and rename", writing, "WriteFile/*", "folio", rename, 2.5),
	}},
	{"rewritefile", readme, "the same, a file that is there", []*Claim{
		faster("rewritefile-plain", "files, plainly", writing, "RewriteFile/*", "folio", plain, noGoal),
		faster("rewritefile-rename", "by temporary file and rename",
			writing, "RewriteFile/*", "folio", rename, noGoal,
		),
	}},
	{"writers", readme, "100 goroutines, 1,000 new files each", []*Claim{
		faster("writers-plain", "files, plainly", manyWriters, "ManyWriters/*", "folio", plain, 2.5),
		faster("writers-rename", "by temporary file and rename", manyWriters, "ManyWriters/*", "folio", rename, 6),
	}},
	{"writers-sync", readme, "the same durably, 20 files each", []*Claim{
		faster("writers-sync", "create, write, fsync, rename, fsync of the directory",
			manySync, "ManySync/*", "folio", rename, 12,
		),
	}},
	// A volume cannot promise as little as plain files do; it promises more.
	{"queue-files", readme, "a queue with a file for each of 10,000 tasks", []*Claim{
		faster("queue-plain", "files, the faster of ext4 and btrfs, plainly",
			queue, "write/shape=tasks/durability=none/*", "write/shape=tasks/durability=log-consistent/folio", bothFiles, 5,
		),
		faster("queue-rename", "by rename",
			queue, "write/shape=tasks/durability=log-consistent/*", "folio", bothFiles, 15,
		),
	}},
	{"million", readme, "create, and remove, one of 1,000,000 files", []*Claim{
		growth("million-create", "one of 10,000",
			million, "Million/*", "many", []string{"few"}, "ns/create", "the time", noGoal,
		),
		growth("million-remove", "one of 10,000",
			million, "Million/*", "many", []string{"few"}, "ns/remove", "the time", noGoal,
		),
	}},
	{"million-size", readme, "the size of the volume after that and `compact`", []*Claim{
		growth("million-size", "an empty one",
			million, "Million/*", "many", []string{"none"}, "B-left", "the size", 1.01,
		),
	}},
	{"open-million", readme, "open a volume of 1,000,000 files, and `Stat` one", []*Claim{
		growth("open-million", "of 10,000 files",
			opening, "Open/*", "many", []string{"few"}, perOp, "the time", noGoal,
		),
	}},
	{"space", readme, "100,000 files of 100 bytes on disk", []*Claim{
		growth("space-files", "files", space, "Space/*", "folio", plainFiles, "B-disk", "the space", noGoal),
		growth("space-sqlite", "one table of SQLite",
			space, "Space/*", "folio", sqlite, "B-disk", "the space", noGoal,
		),
	}},
	{"memory", readme, "memory of a walk of the Go distribution; of `Check`, 1,000,000 files", []*Claim{
		growth("memory-walk", "files",
			memory, "Memory/walk/*", "folio", plainFiles, "KiB-peak", "the memory", noGoal,
		),
		growth("memory-check", "SQLite's `integrity_check`",
			memory, "Memory/check/*", "folio", sqlite, "KiB-peak", "the memory", noGoal,
		),
	}},
	{"large", readme, "a file of 1 GiB: write; read; 4 KiB at random read; written", []*Claim{
		faster("large-write", "a file", largeFile, "LargeFile/*/write", "folio", system, 0.5),
		faster("large-read", "a file", largeFile, "LargeFile/*/read", "folio", system, 1),
		faster("large-readat", "a file", largeFile, "LargeFile/*/read_at", "folio", system, 1.2),
		faster("large-writeat", "a file", largeFile, "LargeFile/*/write_at", "folio", system, 0.4),
	}},
	{"remove-large", readme, "remove a file of 1 GiB", []*Claim{
		faster("remove-large", "a file", removeLarge, "RemoveLarge/*/remove", "folio", system, 1),
	}},
	{"import", readme, "import the Go sources", []*Claim{
		faster("import-cp", "`cp -a`", importing, "Import/*", "folio", []string{"cp"}, 4),
		faster("import-archive", "`sqlite3 -A`", importing, "Import/*", "folio", []string{"archive"}, 4),
	}},
	{"get", readme, "a row by rowid, 1 and 22 goroutines", lookups("get", lookup, lookupCase("id", ""), 12, 10)},
	{"find", readme, "a row by a unique path, 1 and 22 goroutines", lookups("find", lookup, lookupCase("path", ""), 6, 6)},
	{
		"find-numbered", readme, "the same, neighbours share long prefixes and lie far apart",
		lookups("find-numbered", numbered, lookupCase("path", "/paths=numbered"), 4, 4),
	},
	{"rowids", readme, "a million rowids from standard input, a whole process", []*Claim{
		faster("rowids", "the `sqlite3` shell, one transaction",
			rowids, "rowids/order=random/*", "engine", []string{"shell"}, 13,
		),
	}},
	{"insert-loop", readme, "10,000 inserts in a loop, one index, log-consistent", []*Claim{
		faster("insert-loop", "mattn",
			inserts, "write/shape=sequential/durability=log-consistent/*", "engine", mattn, 2,
		),
	}},
	{"insert-crowd", readme, "100 goroutines with 1,000 inserts each, the same", []*Claim{
		faster("insert-crowd", "mattn",
			inserts, "write/shape=concurrent/durability=log-consistent/*", "engine", mattn, 12,
		),
	}},
	{"insert-durable", readme, "inserts, each synced: 3,000 in a loop", []*Claim{
		faster("insert-durable", "mattn",
			durable, "write/shape=sequential/durability=durable/*", "engine", []string{"mattn:native"}, 1.5,
		),
	}},
	{"insert-durable-crowd", readme, "100 goroutines with 100 inserts each, the same", []*Claim{
		faster("insert-durable-crowd-files", "a file for each: create, write, fsync",
			durable, "write/shape=concurrent/durability=durable/*", "engine", []string{"files:fsync"}, 15,
		),
		faster("insert-durable-crowd-mattn", "mattn",
			durable, "write/shape=concurrent/durability=durable/*", "engine", []string{"mattn:native"}, noGoal,
		),
	}},
	{"queue-rows", readme, "a task queue, 100 writers and 10,000 tasks", []*Claim{
		faster("queue-rows-drivers", "the fastest of four drivers",
			taskRows, "write/shape=tasks/durability=log-consistent/*", "engine", writers, 8,
		),
		faster("queue-rows-files", "files, plainly",
			queue, "write/shape=tasks/durability=none/*", "engine", osFiles, 10,
		),
	}},
	{"put", readme, "10,000 values by random keys in a loop, never synced", []*Claim{
		faster("put", "bbolt with NoSync",
			putLoop, "put/shape=sequential/durability=none/*", "engine", []string{"bbolt:update"}, 3,
		),
	}},
	{"put-crowd", readme, "100 goroutines with 1,000 values each, the same", []*Claim{
		faster("put-crowd-batch", "bbolt, `Batch`",
			putCrowd, "put/shape=concurrent/durability=none/*", "engine", []string{"bbolt:batch"}, 15,
		),
		faster("put-crowd-update", "`Update`",
			putCrowd, "put/shape=concurrent/durability=none/*", "engine", []string{"bbolt:update"}, noGoal,
		),
	}},
	{"load", readme, "1,000,000 rows in one transaction, random keys, two indexes", []*Claim{
		faster("load", "mattn",
			load, "load/order=random/durability=log-consistent/*", "engine", []string{"mattn:native"}, 3,
		),
	}},
	{"delete-range", readme, "delete 1,000,000 rows by a range of rowids", []*Claim{
		faster("delete-range-rows", "row by row", deleting, "Delete/*", "range", []string{"rows"}, 10),
		faster("delete-range-sqlite", "`DELETE` by mattn", deleting, "Delete/*", "range", sqlite, 5),
	}},
	{"scan", engine, "add up the rowids of 1,000,000 rows", scanClaims("ids")},
	{"scan-texts", engine, "the same, with the lengths of their texts", scanClaims("texts")},
	{"view", engine, "begin and end a `View` while another goroutine commits", []*Claim{
		{
			Name: "view-time", Kind: Median, From: view,
			Ours: "ViewWhileWriting/nothing", Asked: ask(150), Label: "ns",
		},
		{
			Name: "view-allocs", Kind: Worst, From: view,
			Ours: "ViewWhileWriting/a_row", Unit: "allocs/op", Asked: ask(0), Label: "allocations, with a row that is read",
		},
	}},
	{"allocs", engine, "get a row by rowid; find one by path", []*Claim{
		{
			Name: "get-allocs", Kind: Worst, From: lookup,
			Ours: lookupCase("id", "") + "1/engine", Unit: "allocs/op", Asked: ask(0), Label: "allocations",
		},
		{
			Name: "find-allocs", Kind: Worst, From: lookup,
			Ours: lookupCase("path", "") + "1/engine", Unit: "allocs/op", Asked: ask(0), Label: "allocations",
		},
	}},
	{"insert-leaves", engine, "what 100 goroutines with 1,000 inserts each leave", []*Claim{
		{
			Name: "insert-log", Kind: Worst, From: inserts,
			Ours: "write/shape=concurrent/durability=log-consistent/engine", Unit: "log-MiB", Asked: ask(16), Label: "MiB of log",
		},
		{
			Name: "insert-busy", Kind: Worst, From: inserts,
			Ours: "write/shape=concurrent/durability=log-consistent/engine", Unit: "busy", Asked: ask(0), Label: "refusals",
		},
	}},
	{"sync", syncing, "`folio sync` of the Go distribution, unchanged", []*Claim{
		faster("sync", "`rsync -a` onto the same disk", syncs, "Sync/*", "folio", []string{"rsync"}, 1),
	}},
	{"grep-literal", grepping, "`folio grep 'ReadAll[(]'` of the Go distribution", grepClaim("literal")},
	{"grep-case", grepping, "`-i 'ReadAll[(]'`", grepClaim("case")},
	{"grep-prefix", grepping, "`'x[a-z]+Error'`", grepClaim("prefix")},
	{"grep-either", grepping, "`-l 'error\\|panic'`", grepClaim("either")},
	{"grep-digits", grepping, "`'[0-9]{4}-[0-9]{2}'`", grepClaim("digits")},
}

// The peers.
var (
	osFiles    = []string{"files:os"}
	bothFiles  = []string{"files:os", "files:os@btrfs"}
	osFS       = []string{"fs=os"}
	plainFiles = []string{"files"}
	sqlite     = []string{"sqlite"}
	system     = []string{"system"}
	plain      = []string{"plain"}
	rename     = []string{"rename"}
	in2022     = []string{"sqlstore:mattn-2022", "sqlstore:modernc-2022", "sqlstore-other:ncruces-2022", "sqlstore-other:glebarez-2022"}
	mattn      = []string{"mattn:sql", "mattn:native", "mattn:one"}
	drivers    = []string{"mattn:sql", "mattn:native", "crawshaw", "zombiezen"}
	writers    = []string{"mattn:sql", "mattn:native", "mattn:one", "modernc", "ncruces:native", "zombiezen"}
)

// noGoal stands for the goal of a claim that has none.
const noGoal = -1

// faster makes a claim of the kind Faster.
func faster(name, beside string, from Source, of, ours string, peers []string, goal float64) *Claim {
	return &Claim{Name: name, Beside: beside, From: from, Case: of, Ours: ours, Peers: peers, Asked: ask(goal)}
}

// growth makes a claim of the kind Growth.
func growth(name, beside string, from Source, of, ours string, peers []string, unit, label string, goal float64) *Claim {
	c := faster(name, beside, from, of, ours, peers, goal)
	c.Kind, c.Unit, c.Label = Growth, unit, label
	return c
}

func lookupCase(by, paths string) string {
	return "lookup/by=" + by + paths + "/cache=warm/transaction=each/mode=prepared/goroutines="
}

// lookups are the claims of rows that are looked up, by one goroutine and by 22.
func lookups(name string, from *Lab, of string, one, many float64) []*Claim {
	const beside = "the fastest of three drivers, prepared"
	return []*Claim{
		faster(name+"-1", beside, from, of+"1/*", "engine", drivers, one),
		faster(name+"-22", beside, from, of+"22/*", "engine", drivers, many),
	}
}

func grepClaim(pattern string) []*Claim {
	return []*Claim{
		faster("grep-"+pattern, "`grep -rE` of files", grep, "Grep/"+pattern+"/*", "folio", []string{"grep"}, noGoal),
	}
}

// scanClaims are the claims of a scan, which bbolt does by its cursor and SQLite in one statement.
func scanClaims(what string) []*Claim {
	return []*Claim{
		faster("scan-"+what+"-bbolt", "bbolt's cursor",
			scan, "Scan/"+what+"/*", "engine", []string{"bbolt"}, noGoal,
		),
		faster("scan-"+what+"-sqlite", "`SELECT sum()` of SQLite",
			scan, "Scan/"+what+"/*", "engine", sqlite, noGoal,
		),
	}
}
