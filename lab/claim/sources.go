package claim

import "strings"

// The sources of the claims. The sizes are such that ten samples of all of them take about 90
// minutes on two cores.

// Sources in the laboratory.
var (
	walkThree = &Lab{
		Name: "walk-three", Workload: "walk", Flags: "tree=three visits=50000", Quick: "visits=5000",
		Contenders: "folio,files:os,sqlstore:mattn-2022,sqlstore:modernc-2022,sqlstore-other:ncruces-2022,sqlstore-other:glebarez-2022",
	}
	walkGoroot = &Lab{Name: "walk-goroot", Workload: "walk", Flags: "tree=goroot", Contenders: "folio,files:os"}
	lookup     = &Lab{
		Name: "lookup", Workload: "lookup", Flags: "rows=1000000 reads=200000 goroutines=1,22 mode=prepared transaction=each", Quick: "rows=100000 reads=20000",
		Contenders: "engine,mattn:sql,mattn:native,crawshaw,zombiezen",
	}
	numbered = &Lab{
		Name: "lookup-numbered", Workload: "lookup", Flags: "rows=1000000 reads=200000 goroutines=1,22 by=path paths=numbered mode=prepared transaction=each", Quick: "rows=100000 reads=20000",
		Contenders: "engine,mattn:sql,mattn:native,crawshaw,zombiezen",
	}
	rowids   = &Lab{Name: "rowids", Workload: "rowids", Contenders: "engine,shell,mattn:native"} // the last makes the database
	inserts  = &Lab{Name: "inserts", Workload: "write", Flags: "shape=sequential,concurrent durability=log-consistent", Contenders: "engine,mattn"}
	durable  = &Lab{Name: "durable", Workload: "write", Flags: "shape=sequential,concurrent durability=durable inserts=3000 records=100", Quick: "inserts=300 records=30", Contenders: "engine,mattn:native,files:fsync"}
	taskRows = &Lab{Name: "task-rows", Workload: "write", Flags: "shape=tasks durability=log-consistent", Contenders: "engine,mattn,modernc,ncruces:native,zombiezen"}
	queue    = &Lab{Name: "queue-files", Workload: "write", Flags: "shape=tasks durability=none,log-consistent", Contenders: "folio,engine,files:os", Everywhere: true}
	putLoop  = &Lab{Name: "put-loop", Workload: "put", Flags: "shape=sequential", Contenders: "engine,bbolt:update"}
	putCrowd = &Lab{Name: "put-crowd", Workload: "put", Flags: "shape=concurrent", Contenders: "engine,bbolt:update,bbolt:batch"}
	load     = &Lab{Name: "load", Workload: "load", Contenders: "engine,mattn:native"}
)

// Sources in benchmarks. Most of them compare a volume with files of the system.
var (
	walkMillion = &Bench{Name: "walk-million", Module: ".", Package: "./internal/volumetest", Pattern: "^BenchmarkWalk$/^tree=(10k|1M)$/^fs=folio$"}
	stat        = &Bench{Name: "stat", Module: ".", Package: "./internal/volumetest", Pattern: "^BenchmarkStat$/./^fs=(os|folio)$", Quick: "-test.benchtime=1x"}
	readFile    = &Bench{Name: "readfile", Module: ".", Package: "./internal/volumetest", Pattern: "^BenchmarkReadFile$/./^fs=(os|folio)$", Quick: "-test.benchtime=1x"}
	writing     = &Bench{Name: "writefile", Module: ".", Package: "./internal/volumetest", Pattern: "^Benchmark(W|Rew)riteFile$", Args: "-test.benchtime=20000x", Quick: "-test.benchtime=500x"}
	manyWriters = &Bench{Name: "writers", Module: ".", Package: "./internal/volumetest", Pattern: "^BenchmarkManyWriters$", Args: "-test.benchtime=1x"}
	manySync    = &Bench{Name: "writers-sync", Module: ".", Package: "./internal/volumetest", Pattern: "^BenchmarkManySync$", Args: "-test.benchtime=4x", Quick: "-test.benchtime=1x"}
	largeFile   = &Bench{Name: "large", Module: ".", Package: "./internal/volumetest", Pattern: "^BenchmarkLargeFile$", Args: "-test.benchtime=1x"}
	million     = &Bench{Name: "million", Module: ".", Package: "./internal/volumetest", Pattern: "^BenchmarkMillion$", Args: "-test.benchtime=1x -million=1000000", Quick: "-million=10000"}
	view        = &Bench{Name: "view", Module: ".", Package: "./sqlitefile", Pattern: "^BenchmarkViewWhileWriting$"}
	removeLarge = &Bench{Name: "remove-large", Module: ".", Package: "./internal/volumetest", Pattern: "^BenchmarkRemoveLarge$/^(folio|system)$/^remove$", Args: "-test.benchtime=1x"}
	cold        = besidePeers("cold", "Cold", "-test.benchtime=1x", "")
	buffer      = besidePeers("buffer", "Buffer", "", "-test.benchtime=1x")
	opening     = besidePeers("open", "Open", "", "-files=10000")
	memory      = besidePeers("memory", "Memory", "-test.benchtime=1x", "-files=10000")
	space       = besidePeers("space", "Space", "-test.benchtime=1x", "")
	serving     = besidePeers("http", "HTTP", "", "-test.benchtime=1x")
	scan        = besidePeers("scan", "Scan", "", "-test.benchtime=1x")
	deleting    = besidePeers("delete", "Delete", "-test.benchtime=1x", "")
	server      = besidePeers("server", "Server", "-test.benchtime=1x", "-quick")
	importing   = besidePeers("import", "Import", "-test.benchtime=1x", "")
	syncs       = besidePeers("sync", "Sync", "-test.benchtime=1x", "")
	grep        = besidePeers("grep", "Grep", "-test.benchtime=1x", "")
)

// Sources in benchmarks of mounted volumes.
var (
	mountCreate  = inMounts("create", "MountCreate")
	mountTree    = inMounts("tree", "MountTree")
	mountLarge   = inMounts("large", "MountLarge")
	mountForeign = inMounts("foreign", "MountForeign")
)

func inMounts(name, benchmark string) *Bench {
	b := besidePeers("mount-"+name, benchmark, "-test.benchtime=1x", "-quick")
	b.Everywhere = true
	return b
}

// besidePeers is a source in the benchmarks of the contenders' module, which say why they skip a
// side.
func besidePeers(name, benchmark, args, quick string) *Bench {
	return &Bench{Name: name, Module: "lab/contender", Package: "./bench", Pattern: "^Benchmark" + benchmark + "$", Args: strings.TrimSpace("-test.v " + args), Quick: quick}
}
