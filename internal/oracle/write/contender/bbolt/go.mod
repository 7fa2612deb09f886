module github.com/foliofs/folio/internal/oracle/write/contender/bbolt

go 1.26.0

require (
	github.com/foliofs/folio/internal/oracle v0.0.0-00010101000000-000000000000
	go.etcd.io/bbolt v1.5.0
)

require golang.org/x/sys v0.49.0 // indirect

replace (
	github.com/foliofs/folio => ../../../../..
	github.com/foliofs/folio/internal/oracle => ../../..
)
