module github.com/foliofs/folio/internal/oracle

go 1.26.0

require (
	github.com/glebarez/go-sqlite v1.23.0
	github.com/mattn/go-sqlite3 v1.14.52
	github.com/ncruces/go-sqlite3 v0.35.6
	modernc.org/sqlite v1.61.1
)

require github.com/sqlc-dev/meyer v0.1.2 // indirect

require (
	github.com/dustin/go-humanize v1.1.0 // indirect
	github.com/foliofs/folio v0.0.0-00010101000000-000000000000
	github.com/google/uuid v1.6.0 // indirect
	github.com/mattn/go-isatty v0.0.24 // indirect
	github.com/ncruces/go-sqlite3-wasm/v6 v6.3.35304 // indirect
	github.com/ncruces/go-strftime v1.1.0 // indirect
	github.com/ncruces/julianday v1.0.0 // indirect
	github.com/remyoudompheng/bigfft v0.0.0-20230129092748-24d4a6f8daec // indirect
	golang.org/x/sys v0.49.0
	modernc.org/libc v1.79.0 // indirect
	modernc.org/mathutil v1.7.1 // indirect
	modernc.org/memory v1.12.1 // indirect
)

replace github.com/foliofs/folio => ../..
