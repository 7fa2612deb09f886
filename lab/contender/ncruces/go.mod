module github.com/foliofs/folio/lab/contender/ncruces

go 1.26.0

require (
	github.com/foliofs/folio/lab/workload v0.0.0-00010101000000-000000000000
	github.com/ncruces/go-sqlite3 v0.35.6
)

require (
	github.com/ncruces/go-sqlite3-wasm/v6 v6.3.35304 // indirect
	github.com/ncruces/julianday v1.0.0 // indirect
	golang.org/x/sys v0.48.0 // indirect
)

replace github.com/foliofs/folio/lab/workload => ../../workload
