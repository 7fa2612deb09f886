package claim

import "strings"

// A Place is where figures stand: between two marks in a document.
type Place struct{ Doc, Part string }

// figuresPage has all tables but the one of the README.
const figuresPage = "docs/reference/figures.md"

// The places that there are.
var (
	readme   = Place{"README.md", "speed"}
	engine   = Place{figuresPage, "engine"}
	syncing  = Place{figuresPage, "sync"}
	grepping = Place{figuresPage, "grep"}
	mounting = Place{figuresPage, "mount"}
	onServer = Place{figuresPage, "server"}
)

// Rows are all claims, in the order in which they stand in the documents.
var Rows = []Row{
	{"walk", readme, "walk three files in as many directories, `fs.WalkDir`", []*Claim{
		{Name: "walk-three", Beside: "files", From: walkThree, Case: "walk/tree=three/*", Ours: "folio", Peers: osFiles, Asked: ask(20)},
		{Name: "walk-2022", Beside: "the file system in SQLite of 2022, by the fastest of four drivers", From: walkThree, Case: "walk/tree=three/*", Ours: "folio", Peers: in2022},
	}},
	{"walk-goroot", readme, "walk the Go distribution", []*Claim{
		{Name: "walk-goroot", Beside: "files", From: walkGoroot, Case: "walk/tree=goroot/*", Ours: "folio", Peers: osFiles, Asked: ask(6)},
	}},
	{"cold", readme, "walk the Go sources; read them, with nothing in memory", []*Claim{
		{Name: "cold-walk", Beside: "files on the same disk", From: cold, Case: "Cold/walk/*", Ours: "folio", Peers: plainFiles, Asked: ask(6)},
		{Name: "cold-read", Beside: "files on the same disk", From: cold, Case: "Cold/read/*", Ours: "folio", Peers: plainFiles, Asked: ask(8)},
	}},
	{"walk-million", readme, "walk an entry of 1,000,000 files", []*Claim{
		{Name: "walk-million", Kind: Growth, Beside: "of 10,000 files", From: walkMillion, Case: "Walk/tree=*/fs=folio", Ours: "1M", Peers: []string{"10k"}, Unit: "ns/each", Asked: ask(1.3), Label: "the time"},
	}},
	{"stat", readme, "`Stat` of one file; of all of the Go distribution, at random", []*Claim{
		{Name: "stat-one", Beside: "files", From: stat, Case: "Stat/files=one/*", Ours: "fs=folio", Peers: osFS, Asked: ask(10)},
		{Name: "stat-all", Beside: "files", From: stat, Case: "Stat/files=all/*", Ours: "fs=folio", Peers: osFS, Asked: ask(4.5)},
	}},
	{"readfile", readme, "`ReadFile` of the Go sources, in order; at random", []*Claim{
		{Name: "readfile-walk", Beside: "files", From: readFile, Case: "ReadFile/order=walk/*", Ours: "fs=folio", Peers: osFS, Asked: ask(2)},
		{Name: "readfile-random", Beside: "files", From: readFile, Case: "ReadFile/order=random/*", Ours: "fs=folio", Peers: osFS, Asked: ask(2)},
	}},
	{"readfile-buffer", readme, "the same at random, each opened and read into one buffer", []*Claim{
		{Name: "readfile-buffer", Beside: "files", From: buffer, Case: "Buffer/*", Ours: "folio", Peers: plainFiles, Asked: ask(3)},
	}},
	{"http", readme, "the same by `http.FileServerFS`, over 8 connections", []*Claim{
		{Name: "http-files", Beside: "`http.FileServer` over files", From: serving, Case: "HTTP/*", Ours: "folio", Peers: plainFiles},
		{Name: "http-nginx", Beside: "nginx", From: serving, Case: "HTTP/*", Ours: "folio", Peers: []string{"nginx"}},
	}},
	{"writefile", readme, "`WriteFile` of 100 bytes, a new file", []*Claim{
		{Name: "writefile-plain", Beside: "files, plainly", From: writing, Case: "WriteFile/*", Ours: "folio", Peers: plain, Asked: ask(1.2)},
		{Name: "writefile-rename", Beside: "by temporary file and rename", From: writing, Case: "WriteFile/*", Ours: "folio", Peers: rename, Asked: ask(2.5)},
	}},
	{"rewritefile", readme, "the same, a file that is there", []*Claim{
		{Name: "rewritefile-plain", Beside: "files, plainly", From: writing, Case: "RewriteFile/*", Ours: "folio", Peers: plain},
		{Name: "rewritefile-rename", Beside: "by temporary file and rename", From: writing, Case: "RewriteFile/*", Ours: "folio", Peers: rename},
	}},
	{"writers", readme, "100 goroutines, 1,000 new files each", []*Claim{
		{Name: "writers-plain", Beside: "files, plainly", From: manyWriters, Case: "ManyWriters/*", Ours: "folio", Peers: plain, Asked: ask(2.5)},
		{Name: "writers-rename", Beside: "by temporary file and rename", From: manyWriters, Case: "ManyWriters/*", Ours: "folio", Peers: rename, Asked: ask(6)},
	}},
	{"writers-sync", readme, "the same durably, 20 files each", []*Claim{
		{Name: "writers-sync", Beside: "create, write, fsync, rename, fsync of the directory", From: manySync, Case: "ManySync/*", Ours: "folio", Peers: rename, Asked: ask(12)},
	}},
	// A volume cannot promise as little as plain files do; it promises more.
	{"queue-files", readme, "a queue with a file for each of 10,000 tasks", []*Claim{
		{Name: "queue-plain", Beside: "files, the faster of ext4 and btrfs, plainly", From: queue, Case: "write/shape=tasks/durability=none/*", Ours: "write/shape=tasks/durability=log-consistent/folio", Peers: bothFiles, Asked: ask(5)},
		{Name: "queue-rename", Beside: "by rename", From: queue, Case: "write/shape=tasks/durability=log-consistent/*", Ours: "folio", Peers: bothFiles, Asked: ask(15)},
	}},
	{"million", readme, "create, and remove, one of 1,000,000 files", []*Claim{
		{Name: "million-create", Kind: Growth, Beside: "one of 10,000", From: million, Case: "Million/*", Ours: "many", Peers: []string{"few"}, Unit: "ns/create", Label: "the time"},
		{Name: "million-remove", Kind: Growth, Beside: "one of 10,000", From: million, Case: "Million/*", Ours: "many", Peers: []string{"few"}, Unit: "ns/remove", Label: "the time"},
	}},
	{"million-size", readme, "the size of the volume after that and `compact`", []*Claim{
		{Name: "million-size", Kind: Growth, Beside: "an empty one", From: million, Case: "Million/*", Ours: "many", Peers: []string{"none"}, Unit: "B-left", Asked: ask(1.01), Label: "the size"},
	}},
	{"open-million", readme, "open a volume of 1,000,000 files, and `Stat` one", []*Claim{
		{Name: "open-million", Kind: Growth, Beside: "of 10,000 files", From: opening, Case: "Open/*", Ours: "many", Peers: []string{"few"}, Label: "the time"},
	}},
	{"space", readme, "100,000 files of 100 bytes on disk", []*Claim{
		{Name: "space-files", Kind: Growth, Beside: "files", From: space, Case: "Space/*", Ours: "folio", Peers: plainFiles, Unit: "B-disk", Label: "the space"},
		{Name: "space-sqlite", Kind: Growth, Beside: "one table of SQLite", From: space, Case: "Space/*", Ours: "folio", Peers: sqlite, Unit: "B-disk", Label: "the space"},
	}},
	{"memory", readme, "memory of a walk of the Go distribution; of `Check`, 1,000,000 files", []*Claim{
		{Name: "memory-walk", Kind: Growth, Beside: "files", From: memory, Case: "Memory/walk/*", Ours: "folio", Peers: plainFiles, Unit: "KiB-peak", Label: "the memory"},
		{Name: "memory-check", Kind: Growth, Beside: "SQLite's `integrity_check`", From: memory, Case: "Memory/check/*", Ours: "folio", Peers: sqlite, Unit: "KiB-peak", Label: "the memory"},
	}},
	{"large", readme, "a file of 1 GiB: write; read; 4 KiB at random read; written", []*Claim{
		{Name: "large-write", Beside: "a file", From: largeFile, Case: "LargeFile/*/write", Ours: "folio", Peers: system, Asked: ask(0.5)},
		{Name: "large-read", Beside: "a file", From: largeFile, Case: "LargeFile/*/read", Ours: "folio", Peers: system, Asked: ask(1)},
		{Name: "large-readat", Beside: "a file", From: largeFile, Case: "LargeFile/*/read_at", Ours: "folio", Peers: system, Asked: ask(1.2)},
		{Name: "large-writeat", Beside: "a file", From: largeFile, Case: "LargeFile/*/write_at", Ours: "folio", Peers: system, Asked: ask(0.4)},
	}},
	{"remove-large", readme, "remove a file of 1 GiB", []*Claim{
		{Name: "remove-large", Beside: "a file", From: removeLarge, Case: "RemoveLarge/*/remove", Ours: "folio", Peers: system, Asked: ask(1)},
	}},
	{"import", readme, "import the Go sources", []*Claim{
		{Name: "import-cp", Beside: "`cp -a`", From: importing, Case: "Import/*", Ours: "folio", Peers: []string{"cp"}, Asked: ask(4)},
		{Name: "import-archive", Beside: "`sqlite3 -A`", From: importing, Case: "Import/*", Ours: "folio", Peers: []string{"archive"}, Asked: ask(4)},
	}},
	{"get", readme, "a row by rowid, 1 and 22 goroutines", lookups("get", lookup, lookupCase("id", ""), 12, 10)},
	{"find", readme, "a row by a unique path, 1 and 22 goroutines", lookups("find", lookup, lookupCase("path", ""), 6, 6)},
	{"find-numbered", readme, "the same, neighbours share long prefixes and lie far apart", lookups("find-numbered", numbered, lookupCase("path", "/paths=numbered"), 4, 4)},
	{"rowids", readme, "a million rowids from standard input, a whole process", []*Claim{
		{Name: "rowids", Beside: "the `sqlite3` shell, one transaction", From: rowids, Case: "rowids/order=random/*", Ours: "engine", Peers: []string{"shell"}, Asked: ask(13)},
	}},
	{"insert-loop", readme, "10,000 inserts in a loop, one index, log-consistent", []*Claim{
		{Name: "insert-loop", Beside: "mattn", From: inserts, Case: "write/shape=sequential/durability=log-consistent/*", Ours: "engine", Peers: mattn, Asked: ask(2)},
	}},
	{"insert-crowd", readme, "100 goroutines with 1,000 inserts each, the same", []*Claim{
		{Name: "insert-crowd", Beside: "mattn", From: inserts, Case: "write/shape=concurrent/durability=log-consistent/*", Ours: "engine", Peers: mattn, Asked: ask(12)},
	}},
	{"insert-durable", readme, "inserts, each synced: 3,000 in a loop", []*Claim{
		{Name: "insert-durable", Beside: "mattn", From: durable, Case: "write/shape=sequential/durability=durable/*", Ours: "engine", Peers: []string{"mattn:native"}, Asked: ask(1.5)},
	}},
	{"insert-durable-crowd", readme, "100 goroutines with 100 inserts each, the same", []*Claim{
		{Name: "insert-durable-crowd-files", Beside: "a file for each: create, write, fsync", From: durable, Case: "write/shape=concurrent/durability=durable/*", Ours: "engine", Peers: []string{"files:fsync"}, Asked: ask(15)},
		{Name: "insert-durable-crowd-mattn", Beside: "mattn", From: durable, Case: "write/shape=concurrent/durability=durable/*", Ours: "engine", Peers: []string{"mattn:native"}},
	}},
	{"queue-rows", readme, "a task queue, 100 writers and 10,000 tasks", []*Claim{
		{Name: "queue-rows-drivers", Beside: "the fastest of four drivers", From: taskRows, Case: "write/shape=tasks/durability=log-consistent/*", Ours: "engine", Peers: writers, Asked: ask(8)},
		{Name: "queue-rows-files", Beside: "files, plainly", From: queue, Case: "write/shape=tasks/durability=none/*", Ours: "engine", Peers: osFiles, Asked: ask(10)},
	}},
	{"put", readme, "10,000 values by random keys in a loop, never synced", []*Claim{
		{Name: "put", Beside: "bbolt with NoSync", From: putLoop, Case: "put/shape=sequential/durability=none/*", Ours: "engine", Peers: []string{"bbolt:update"}, Asked: ask(3)},
	}},
	{"put-crowd", readme, "100 goroutines with 1,000 values each, the same", []*Claim{
		{Name: "put-crowd-batch", Beside: "bbolt, `Batch`", From: putCrowd, Case: "put/shape=concurrent/durability=none/*", Ours: "engine", Peers: []string{"bbolt:batch"}, Asked: ask(15)},
		{Name: "put-crowd-update", Beside: "`Update`", From: putCrowd, Case: "put/shape=concurrent/durability=none/*", Ours: "engine", Peers: []string{"bbolt:update"}},
	}},
	{"load", readme, "1,000,000 rows in one transaction, random keys, two indexes", []*Claim{
		{Name: "load", Beside: "mattn", From: load, Case: "load/order=random/durability=log-consistent/*", Ours: "engine", Peers: []string{"mattn:native"}, Asked: ask(3)},
	}},
	{"delete-range", readme, "delete 1,000,000 rows by a range of rowids", []*Claim{
		{Name: "delete-range-rows", Beside: "row by row", From: deleting, Case: "Delete/*", Ours: "range", Peers: []string{"rows"}, Asked: ask(10)},
		{Name: "delete-range-sqlite", Beside: "`DELETE` by mattn", From: deleting, Case: "Delete/*", Ours: "range", Peers: sqlite, Asked: ask(5)},
	}},
	{"scan", engine, "add up the rowids of 1,000,000 rows", scanClaims("ids")},
	{"scan-texts", engine, "the same, with the lengths of their texts", scanClaims("texts")},
	{"view", engine, "begin and end a `View` while another goroutine commits", []*Claim{
		{Name: "view-time", Kind: Median, From: view, Ours: "ViewWhileWriting/nothing", Asked: ask(150), Label: "ns"},
		{Name: "view-allocs", Kind: Worst, From: view, Ours: "ViewWhileWriting/a_row", Unit: "allocs/op", Asked: ask(0), Label: "allocations, with a row that is read"},
	}},
	{"allocs", engine, "get a row by rowid; find one by path", []*Claim{
		{Name: "get-allocs", Kind: Worst, From: lookup, Ours: lookupCase("id", "") + "1/engine", Unit: "allocs/op", Asked: ask(0), Label: "allocations"},
		{Name: "find-allocs", Kind: Worst, From: lookup, Ours: lookupCase("path", "") + "1/engine", Unit: "allocs/op", Asked: ask(0), Label: "allocations"},
	}},
	{"insert-leaves", engine, "what 100 goroutines with 1,000 inserts each leave", []*Claim{
		{Name: "insert-log", Kind: Worst, From: inserts, Ours: "write/shape=concurrent/durability=log-consistent/engine", Unit: "log-MiB", Asked: ask(16), Label: "MiB of log"},
		{Name: "insert-busy", Kind: Worst, From: inserts, Ours: "write/shape=concurrent/durability=log-consistent/engine", Unit: "busy", Asked: ask(0), Label: "refusals"},
	}},
	{"sync", syncing, "`folio sync` of the Go distribution, unchanged", []*Claim{
		{Name: "sync", Beside: "`rsync -a` onto the same disk", From: syncs, Case: "Sync/*", Ours: "folio", Peers: []string{"rsync"}, Asked: ask(1)},
	}},
	{"grep-literal", grepping, "`folio grep 'ReadAll[(]'` of the Go distribution", grepClaim("literal")},
	{"grep-case", grepping, "`-i 'ReadAll[(]'`", grepClaim("case")},
	{"grep-prefix", grepping, "`'x[a-z]+Error'`", grepClaim("prefix")},
	{"grep-either", grepping, "`-l 'error\\|panic'`", grepClaim("either")},
	{"grep-digits", grepping, "`'[0-9]{4}-[0-9]{2}'`", grepClaim("digits")},
	{"mount-create", mounting, "create files of 100 bytes, one process", append(
		mountClaims("mount-create", mountCreate, "MountCreate/one/*", 0, 1.25),
		&Claim{Name: "mount-create-liteboxfs", Beside: "LiteboxFS", From: mountCreate, Case: "MountCreate/one/*", Ours: "folio", Peers: []string{"liteboxfs"}, Asked: ask(3)},
	)},
	{"mount-create-many", mounting, "the same, eight processes", append(
		mountClaims("mount-create-many", mountCreate, "MountCreate/eight/*", 0, 0),
		&Claim{Name: "mount-create-many-floor", Kind: Growth, Beside: "the floor by one process", From: mountCreate, Case: "MountCreate/eight/*", Ours: "folio", Peers: []string{"MountCreate/one/floor"}, Asked: ask(0.6), Label: "the time"},
	)},
	{"mount-stat", mounting, "`lstat` of all files of the Go sources", mountClaims("mount-stat", mountTree, "MountTree/stat/*", asLong, 0)},
	{"mount-read", mounting, "read those of at most 64 KiB", mountClaims("mount-read", mountTree, "MountTree/read/*", asLong, 0)},
	{"mount-find", mounting, "`find` of them", mountClaims("mount-find", mountTree, "MountTree/find/*", asLong, 0)},
	{"mount-grep", mounting, "`grep -r` of them", mountClaims("mount-grep", mountTree, "MountTree/grep/*", asLong, 0)},
	{"mount-find-cold", mounting, "`find`, with nothing in memory", append(
		mountClaims("mount-find-cold", mountTree, "MountTree/find-cold/*", 1, 0),
		&Claim{Name: "mount-find-cold-squashfuse", Beside: "squashfuse", From: mountTree, Case: "MountTree/find-cold/*", Ours: "folio", Peers: squashfuse},
	)},
	{"mount-grep-cold", mounting, "`grep -r`, with nothing in memory", append(
		mountClaims("mount-grep-cold", mountTree, "MountTree/grep-cold/*", 1, 0),
		&Claim{Name: "mount-grep-cold-squashfuse", Beside: "squashfuse", From: mountTree, Case: "MountTree/grep-cold/*", Ours: "folio", Peers: squashfuse},
	)},
	{"mount-large", mounting, "a file of 1 GiB: write, with fsync; read", []*Claim{
		{Name: "mount-large-write", Beside: "a file", From: mountLarge, Case: "MountLarge/write/*", Ours: "folio", Peers: plainFiles, Asked: ask(0.35)},
		{Name: "mount-large-read", Beside: "a file", From: mountLarge, Case: "MountLarge/read/*", Ours: "folio", Peers: plainFiles, Asked: ask(0.9)},
	}},
	{"mount-large-cold", mounting, "read it, with nothing in memory", []*Claim{
		{Name: "mount-large-cold", Beside: "a file", From: mountLarge, Case: "MountLarge/read-cold/*", Ours: "folio", Peers: plainFiles, Asked: ask(0.8)},
	}},
	{"mount-random", mounting, "4 KiB of it at random: read; write", []*Claim{
		{Name: "mount-random-read", Beside: "a file", From: mountLarge, Case: "MountLarge/read-at/*", Ours: "folio", Peers: plainFiles},
		{Name: "mount-random-write", Beside: "a file", From: mountLarge, Case: "MountLarge/write-at/*", Ours: "folio", Peers: plainFiles},
	}},
	{"mount-untar", mounting, "`tar -x` of the Go distribution", mountClaims("mount-untar", mountTree, "MountTree/untar/*", 0, 1.3)},
	{"mount-status", mounting, "`git status` of it", mountClaims("mount-status", mountTree, "MountTree/status/*", 0, 1.3)},
	{"mount-build", mounting, "`go build` of 40 packages", mountClaims("mount-build", mountTree, "MountTree/build/*", 0, 1.3)},
	{"mount-rm", mounting, "`rm -rf` of the Go distribution", mountClaims("mount-rm", mountTree, "MountTree/rm/*", 0, 1.3)},
	{"mount-foreign", mounting, "see what another process has committed: median; longest", []*Claim{
		{Name: "mount-foreign-median", Kind: Median, From: mountForeign, Ours: "MountForeign/folio", Unit: "ms-median", Asked: ask(2), Label: "ms"},
		{Name: "mount-foreign-max", Kind: Worst, From: mountForeign, Ours: "MountForeign/folio", Unit: "ms-max", Asked: ask(5), Label: "ms"},
	}},
	{"server-floor", onServer, "the server alone: `SELECT 1`; insert 4 KiB durably; the same by 50 clients, 100 bytes", []*Claim{
		{Name: "server-trip", Kind: Median, From: server, Ours: "Server/stat/floor", Unit: "us-each", Label: "us"},
		{Name: "server-insert", Kind: Median, From: server, Ours: "Server/create/floor", Unit: "us-each", Label: "us"},
		{Name: "server-insert-many", Kind: Median, From: server, Ours: "Server/create-many/floor", Unit: "us-each", Label: "us"},
	}},
	{"server-stat", onServer, "`Stat` of a path of five names", append(
		[]*Claim{{Name: "server-stat-trip", Kind: Growth, Beside: "`SELECT 1`", From: server, Case: "Server/stat/*", Ours: "folio", Peers: floor, Asked: ask(1.6), Label: "the time"}},
		serverClaims("server-stat", "Server/stat/*")...,
	)},
	{"server-read", onServer, "`ReadFile` of 10 KB, at random", append(
		[]*Claim{{Name: "server-read-trip", Kind: Growth, Beside: "`SELECT 1`", From: server, Case: "Server/read/*", Ours: "folio", Peers: floor, Label: "the time"}},
		serverClaims("server-read", "Server/read/*")...,
	)},
	{"server-list", onServer, "list 1,000 entries with their attributes", append(
		[]*Claim{{Name: "server-list-time", Kind: Median, From: server, Ours: "Server/list/folio", Unit: "ms-each", Asked: ask(3), Label: "ms"}},
		serverClaims("server-list", "Server/list/*")...,
	)},
	{"server-create", onServer, "create a file of 4 KiB durably", append(
		[]*Claim{{Name: "server-create-insert", Kind: Growth, Beside: "an insert", From: server, Case: "Server/create/*", Ours: "folio", Peers: floor, Asked: ask(2), Label: "the time"}},
		serverClaims("server-create", "Server/create/*")...,
	)},
	{"server-create-many", onServer, "100 goroutines create files of 100 bytes durably, each", manyClaims("server-create-many", "Server/create-many/*")},
	{"server-create-processes", onServer, "the same by 4 processes of 25 goroutines", manyClaims("server-create-processes", "Server/create-processes/*")},
	{"server-copy-in", onServer, "`folio cp -r` of the Go distribution into it, each file", append(
		[]*Claim{{Name: "server-copy-in-time", Kind: Median, From: server, Ours: "Server/copy-in/folio", Unit: "us-each", Asked: ask(100), Label: "us"}},
		serverClaims("server-copy-in", "Server/copy-in/*")...,
	)},
	{"server-copy-out", onServer, "the same out of it", append(
		[]*Claim{{Name: "server-copy-out-time", Kind: Median, From: server, Ours: "Server/copy-out/folio", Unit: "us-each", Asked: ask(1e6 / 15_000.), Label: "us"}},
		serverClaims("server-copy-out", "Server/copy-out/*")...,
	)},
	{"server-clone", onServer, "`Clone` of a tree of 34,200 entries", []*Claim{
		{Name: "server-clone-time", Kind: Median, From: server, Ours: "Server/clone/folio", Unit: "ms-each", Asked: ask(1000), Label: "ms"},
		{Name: "server-clone-sql", Beside: "plain SQL", From: server, Case: "Server/clone/*", Ours: "folio", Peers: []string{"sql"}},
		{Name: "server-clone-volume", Beside: "a volume in a file", From: server, Case: "Server/clone/*", Ours: "folio", Peers: []string{"volume"}},
	}},
}

// The peers.
var (
	osFiles    = []string{"files:os"}
	bothFiles  = []string{"files:os", "files:os@btrfs"}
	osFS       = []string{"fs=os"}
	plainFiles = []string{"files"}
	squashfuse = []string{"squashfuse"}
	sqlite     = []string{"sqlite"}
	system     = []string{"system"}
	plain      = []string{"plain"}
	rename     = []string{"rename"}
	floor      = []string{"floor"}
	in2022     = []string{"sqlstore:mattn-2022", "sqlstore:modernc-2022", "sqlstore-other:ncruces-2022", "sqlstore-other:glebarez-2022"}
	mattn      = []string{"mattn:sql", "mattn:native", "mattn:one"}
	drivers    = []string{"mattn:sql", "mattn:native", "crawshaw", "zombiezen"}
	writers    = []string{"mattn:sql", "mattn:native", "mattn:one", "modernc", "ncruces:native", "zombiezen"}
)

func lookupCase(by, paths string) string {
	return "lookup/by=" + by + paths + "/transaction=each/mode=prepared/goroutines="
}

// lookups are the claims of rows that are looked up, by one goroutine and by 22.
func lookups(name string, from *Lab, of string, one, many float64) []*Claim {
	const beside = "the fastest of three drivers, prepared"
	return []*Claim{
		{Name: name + "-1", Beside: beside, From: from, Case: of + "1/*", Ours: "engine", Peers: drivers, Asked: ask(one)},
		{Name: name + "-22", Beside: beside, From: from, Case: of + "22/*", Ours: "engine", Peers: drivers, Asked: ask(many)},
	}
}

func grepClaim(pattern string) []*Claim {
	return []*Claim{{Name: "grep-" + pattern, Beside: "`grep -rE` of files", From: grep, Case: "Grep/" + pattern + "/*", Ours: "folio", Peers: []string{"grep"}}}
}

// scanClaims are the claims of a scan, which bbolt does by its cursor and SQLite in one statement.
func scanClaims(what string) []*Claim {
	return []*Claim{
		{Name: "scan-" + what + "-bbolt", Beside: "bbolt's cursor", From: scan, Case: "Scan/" + what + "/*", Ours: "engine", Peers: []string{"bbolt"}},
		{Name: "scan-" + what + "-sqlite", Beside: "`SELECT sum()` of SQLite", From: scan, Case: "Scan/" + what + "/*", Ours: "engine", Peers: sqlite},
	}
}

// asLong is the goal of work in a mount that takes 1.1 times as long as on files.
const asLong = 1 / 1.1

// mountClaims are the claims of work in a mount: beside files on the same disk, the loopback of
// go-fuse, which shows a directory, and the floor, which keeps everything in maps. A goal of 0 is
// none. The floor takes part if it has a goal.
func mountClaims(name string, from *Bench, of string, files, floor float64) []*Claim {
	goal := func(figure float64) *float64 {
		if figure == 0 {
			return nil
		}
		return ask(figure)
	}
	claims := []*Claim{
		{Name: name + "-files", Beside: "files", From: from, Case: of, Ours: "folio", Peers: plainFiles, Asked: goal(files)},
		{Name: name + "-loopback", Beside: "go-fuse's loopback", From: from, Case: of, Ours: "folio", Peers: []string{"loopback"}},
	}
	if floor != 0 {
		claims = append(claims, &Claim{Name: name + "-floor", Kind: Growth, Beside: "the floor", From: from, Case: of, Ours: "folio", Peers: []string{"floor"}, Asked: goal(floor), Label: "the time"})
	}
	return claims
}

// serverClaims are the claims of work on a server: beside plain SQL on it, files on disk, and a
// volume in a file.
func serverClaims(name, of string) []*Claim {
	return []*Claim{
		{Name: name + "-sql", Beside: "plain SQL", From: server, Case: of, Ours: "folio", Peers: []string{"sql"}},
		{Name: name + "-files", Beside: "files", From: server, Case: of, Ours: "folio", Peers: plainFiles},
		{Name: name + "-volume", Beside: "a volume in a file", From: server, Case: of, Ours: "folio", Peers: []string{"volume"}},
	}
}

// manyClaims are those of many writers. 50 us are 20,000 files a second.
func manyClaims(name, of string) []*Claim {
	return append([]*Claim{
		{Name: name + "-time", Kind: Median, From: server, Ours: strings.Replace(of, "*", "folio", 1), Unit: "us-each", Asked: ask(50), Label: "us"},
		{Name: name + "-insert", Beside: "inserts by 50 clients", From: server, Case: of, Ours: "folio", Peers: floor, Asked: ask(1.3)},
	}, serverClaims(name, of)...)
}
