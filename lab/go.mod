module github.com/foliofs/folio/lab

go 1.26.0
