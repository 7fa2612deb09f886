module github.com/foliofs/folio/mount

go 1.26.0

require (
	github.com/foliofs/folio v0.0.0
	github.com/hanwen/go-fuse/v2 v2.12.1
	golang.org/x/sys v0.49.0
)

replace github.com/foliofs/folio => ../
