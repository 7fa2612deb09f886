module github.com/foliofs/folio/lab/contender/sqlstore-other

go 1.26.0

require (
	github.com/foliofs/folio/lab/contender/sqlstore v0.0.0-00010101000000-000000000000
	github.com/foliofs/folio/lab/workload v0.0.0-00010101000000-000000000000
	github.com/glebarez/go-sqlite v1.23.0
	github.com/ncruces/go-sqlite3 v0.35.6
)

require (
	github.com/dustin/go-humanize v1.1.0 // indirect
	github.com/foliofs/folio v0.0.0-00010101000000-000000000000 // indirect
	github.com/foliofs/folio/internal/oracle v0.0.0-00010101000000-000000000000 // indirect
	github.com/google/uuid v1.6.0 // indirect
	github.com/mattn/go-isatty v0.0.24 // indirect
	github.com/mattn/go-sqlite3 v1.14.52 // indirect
	github.com/ncruces/go-sqlite3-wasm/v6 v6.3.35304 // indirect
	github.com/ncruces/go-strftime v1.1.0 // indirect
	github.com/ncruces/julianday v1.0.0 // indirect
	github.com/remyoudompheng/bigfft v0.0.0-20230129092748-24d4a6f8daec // indirect
	golang.org/x/sys v0.49.0 // indirect
	modernc.org/libc v1.79.0 // indirect
	modernc.org/mathutil v1.7.1 // indirect
	modernc.org/memory v1.12.1 // indirect
	modernc.org/sqlite v1.61.1 // indirect
)

replace (
	github.com/foliofs/folio => ../../..
	github.com/foliofs/folio/internal/oracle => ../../../internal/oracle
	github.com/foliofs/folio/lab/contender/sqlstore => ../sqlstore
	github.com/foliofs/folio/lab/workload => ../../workload
)
