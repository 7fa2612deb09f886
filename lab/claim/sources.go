package claim

// The sources of the claims. The sizes are such that all of them together take about 25 minutes on two cores.
var (
	walkThree = &Lab{
		Name: "walk-three", Workload: "walk", Flags: "tree=three visits=50000", Quick: "visits=5000",
		Contenders: "folio,files:os,sqlstore:mattn-2022,sqlstore:modernc-2022",
	}
	walkGoroot = &Lab{Name: "walk-goroot", Workload: "walk", Flags: "tree=goroot", Contenders: "folio,files:os"}
	lookup     = &Lab{
		Name: "lookup", Workload: "lookup", Flags: "rows=1000000 reads=200000 goroutines=1,22 mode=prepared transaction=each", Quick: "rows=100000 reads=20000",
		Contenders: "engine,mattn,crawshaw,zombiezen",
	}
	rowids   = &Lab{Name: "rowids", Workload: "rowids", Contenders: "engine,shell,mattn:sql"}
	inserts  = &Lab{Name: "inserts", Workload: "write", Flags: "shape=sequential,concurrent durability=log-consistent", Contenders: "engine,mattn"}
	taskRows = &Lab{Name: "task-rows", Workload: "write", Flags: "shape=tasks durability=log-consistent", Contenders: "engine,mattn,crawshaw,ncruces:native,modernc"}
)
