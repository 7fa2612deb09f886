module github.com/foliofs/folio/cmd/folio

go 1.26.0

require (
	github.com/foliofs/folio v0.0.0
	github.com/foliofs/folio/mount v0.0.0-00010101000000-000000000000
	github.com/foliofs/folio/serve v0.0.0
	github.com/foliofs/folio/store/pgstore v0.0.0-00010101000000-000000000000
	github.com/klauspost/compress v1.20.3
	github.com/rogpeppe/go-internal v1.16.0
	github.com/schollz/progressbar/v3 v3.19.1
	github.com/spf13/cobra v1.10.2
	github.com/spf13/pflag v1.0.9
	golang.org/x/sys v0.49.0
	golang.org/x/term v0.47.0
)

require (
	github.com/VictoriaMetrics/metrics v1.44.0 // indirect
	github.com/alecthomas/chroma/v2 v2.27.0 // indirect
	github.com/dlclark/regexp2/v2 v2.2.1 // indirect
	github.com/foliofs/folio/adapter v0.0.0 // indirect
	github.com/hanwen/go-fuse/v2 v2.12.1 // indirect
	github.com/inconshreveable/mousetrap v1.1.0 // indirect
	github.com/jackc/pgpassfile v1.0.0 // indirect
	github.com/jackc/pgservicefile v0.0.0-20240606120523-5a60cdf6a761 // indirect
	github.com/jackc/pgx/v5 v5.12.0 // indirect
	github.com/jackc/puddle/v2 v2.2.3 // indirect
	github.com/mitchellh/colorstring v0.0.0-20190213212951-d06e56a500db // indirect
	github.com/rivo/uniseg v0.4.7 // indirect
	github.com/tus/tusd/v2 v2.9.1 // indirect
	github.com/valyala/fastrand v1.1.0 // indirect
	github.com/valyala/histogram v1.2.0 // indirect
	github.com/yuin/goldmark v1.8.7 // indirect
	golang.org/x/crypto v0.58.0 // indirect
	golang.org/x/exp v0.0.0-20250106191152-7588d65b2ba8 // indirect
	golang.org/x/net v0.62.0 // indirect
	golang.org/x/sync v0.24.0 // indirect
	golang.org/x/text v0.43.0 // indirect
	golang.org/x/tools v0.51.0 // indirect
)

replace (
	github.com/foliofs/folio => ../..
	github.com/foliofs/folio/adapter => ../../adapter
	github.com/foliofs/folio/mount => ../../mount
	github.com/foliofs/folio/serve => ../../serve
	github.com/foliofs/folio/store/pgstore => ../../store/pgstore
)
