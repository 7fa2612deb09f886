module github.com/foliofs/folio/internal/oracle/write/contender/files

go 1.26.0

require github.com/foliofs/folio/internal/oracle v0.0.0-00010101000000-000000000000

replace (
	github.com/foliofs/folio => ../../../../..
	github.com/foliofs/folio/internal/oracle => ../../..
)
