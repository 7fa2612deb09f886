module github.com/foliofs/folio/lab/contender/folio

go 1.26.0

require github.com/foliofs/folio/lab/workload v0.0.0-00010101000000-000000000000

replace github.com/foliofs/folio/lab/workload => ../../workload

require github.com/foliofs/folio v0.0.0-00010101000000-000000000000

require golang.org/x/sys v0.49.0 // indirect

replace github.com/foliofs/folio => ../../..
