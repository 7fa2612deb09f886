module github.com/foliofs/folio/lab/workload

go 1.26.0
