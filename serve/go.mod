module github.com/foliofs/folio/serve

go 1.26.0

require github.com/foliofs/folio v0.0.0

replace (
	github.com/foliofs/folio => ..
	github.com/foliofs/folio/adapter => ../adapter
	github.com/foliofs/folio/store/pgstore => ../store/pgstore
)

require (
	github.com/VictoriaMetrics/metrics v1.44.0
	github.com/alecthomas/chroma/v2 v2.27.0
	github.com/chromedp/cdproto v0.159.1
	github.com/chromedp/chromedp v0.22.1
	github.com/foliofs/folio/adapter v0.0.0
	github.com/klauspost/compress v1.20.3
	github.com/rogpeppe/go-internal v1.16.0
	github.com/tus/tusd/v2 v2.9.1
	github.com/yuin/goldmark v1.8.7
	golang.org/x/crypto v0.58.0
	golang.org/x/exp v0.0.0-20250106191152-7588d65b2ba8
	golang.org/x/net v0.62.0
	golang.org/x/sync v0.24.0
)

require (
	github.com/dlclark/regexp2/v2 v2.2.1 // indirect
	github.com/go-json-experiment/json v0.0.0-20260213210345-44df1a37e875 // indirect
	github.com/valyala/fastrand v1.1.0 // indirect
	github.com/valyala/histogram v1.2.0 // indirect
	golang.org/x/sys v0.49.0 // indirect
)
