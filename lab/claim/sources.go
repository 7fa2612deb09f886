package claim

import "strings"

// sources are the sources of the claims. The sizes are such that ten samples of all of them take
// about 90 minutes on two cores.
var sources = []Source{
	// Cases of the laboratory.
	&Lab{
		Name: "walk-three", Workload: "walk", Flags: "tree=three visits=50000", Quick: "visits=5000",
		Contenders: "folio,files:os,sqlstore:mattn-2022,sqlstore:modernc-2022,sqlstore-other:ncruces-2022,sqlstore-other:glebarez-2022",
	},
	&Lab{Name: "walk-goroot", Workload: "walk", Flags: "tree=goroot", Contenders: "folio,files:os"},
	&Lab{
		Name: "lookup", Workload: "lookup", Flags: "rows=1000000 reads=200000 goroutines=1,22 mode=prepared transaction=each", Quick: "rows=100000 reads=20000",
		Contenders: "engine,mattn:sql,mattn:native,crawshaw,zombiezen",
	},
	&Lab{
		Name: "lookup-numbered", Workload: "lookup", Flags: "rows=1000000 reads=200000 goroutines=1,22 by=path paths=numbered mode=prepared transaction=each", Quick: "rows=100000 reads=20000",
		Contenders: "engine,mattn:sql,mattn:native,crawshaw,zombiezen",
	},
	&Lab{Name: "rowids", Workload: "rowids", Contenders: "engine,shell,mattn:native"}, // the last makes the database
	&Lab{Name: "inserts", Workload: "write", Flags: "shape=sequential,concurrent durability=log-consistent", Contenders: "engine,mattn"},
	&Lab{Name: "durable", Workload: "write", Flags: "shape=sequential,concurrent durability=durable inserts=3000 records=100", Quick: "inserts=300 records=30", Contenders: "engine,mattn:native,files:fsync"},
	&Lab{Name: "task-rows", Workload: "write", Flags: "shape=tasks durability=log-consistent", Contenders: "engine,mattn,modernc,ncruces:native,zombiezen"},
	&Lab{Name: "queue-files", Workload: "write", Flags: "shape=tasks durability=none,log-consistent", Contenders: "folio,engine,files:os", Everywhere: true},
	&Lab{Name: "put-loop", Workload: "put", Flags: "shape=sequential", Contenders: "engine,bbolt:update"},
	&Lab{Name: "put-crowd", Workload: "put", Flags: "shape=concurrent", Contenders: "engine,bbolt:update,bbolt:batch"},
	&Lab{Name: "load", Workload: "load", Contenders: "engine,mattn:native"},

	// Benchmarks. Most of them compare a volume with files of the system.
	&Bench{Name: "walk-million", Module: ".", Package: "./internal/volumetest", Pattern: "^BenchmarkWalk$/^tree=(10k|1M)$/^fs=folio$"},
	&Bench{Name: "stat", Module: ".", Package: "./internal/volumetest", Pattern: "^BenchmarkStat$/./^fs=(os|folio)$", Quick: "-test.benchtime=1x"},
	&Bench{Name: "readfile", Module: ".", Package: "./internal/volumetest", Pattern: "^BenchmarkReadFile$/./^fs=(os|folio)$", Quick: "-test.benchtime=1x"},
	&Bench{Name: "writefile", Module: ".", Package: "./internal/volumetest", Pattern: "^Benchmark(W|Rew)riteFile$", Args: "-test.benchtime=20000x", Quick: "-test.benchtime=500x"},
	&Bench{Name: "writers", Module: ".", Package: "./internal/volumetest", Pattern: "^BenchmarkManyWriters$", Args: "-test.benchtime=1x"},
	&Bench{Name: "writers-sync", Module: ".", Package: "./internal/volumetest", Pattern: "^BenchmarkManySync$", Args: "-test.benchtime=4x", Quick: "-test.benchtime=1x"},
	&Bench{Name: "large", Module: ".", Package: "./internal/volumetest", Pattern: "^BenchmarkLargeFile$", Args: "-test.benchtime=1x"},
	&Bench{Name: "million", Module: ".", Package: "./internal/volumetest", Pattern: "^BenchmarkMillion$", Args: "-test.benchtime=1x -million=1000000", Quick: "-million=10000"},
	&Bench{Name: "view", Module: ".", Package: "./sqlitefile", Pattern: "^BenchmarkViewWhileWriting$"},
	&Bench{Name: "remove-large", Module: ".", Package: "./internal/volumetest", Pattern: "^BenchmarkRemoveLarge$/^(folio|system)$/^remove$", Args: "-test.benchtime=1x"},
	besidePeers("cold", "Cold", "-test.benchtime=1x", ""),
	besidePeers("buffer", "Buffer", "", "-test.benchtime=1x"),
	besidePeers("open", "Open", "", "-files=10000"),
	besidePeers("memory", "Memory", "-test.benchtime=1x", "-files=10000"),
	besidePeers("space", "Space", "-test.benchtime=1x", ""),
	besidePeers("http", "HTTP", "", "-test.benchtime=1x"),
	besidePeers("scan", "Scan", "", "-test.benchtime=1x"),
	besidePeers("delete", "Delete", "-test.benchtime=1x", ""),
	besidePeers("server", "Server", "-test.benchtime=1x", "-quick"),
	besidePeers("import", "Import", "-test.benchtime=1x", ""),
	besidePeers("sync", "Sync", "-test.benchtime=1x", ""),
	besidePeers("grep", "Grep", "-test.benchtime=1x", ""),

	// Benchmarks of mounted volumes.
	inMounts("create", "MountCreate"),
	inMounts("tree", "MountTree"),
	inMounts("large", "MountLarge"),
	inMounts("foreign", "MountForeign"),
}

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
