module github.com/foliofs/folio/lab/contender/bbolt

go 1.26.0

require (
	github.com/foliofs/folio/lab/workload v0.0.0-00010101000000-000000000000
	go.etcd.io/bbolt v1.5.0
)

require golang.org/x/sys v0.45.0 // indirect

replace github.com/foliofs/folio/lab/workload => ../../workload
