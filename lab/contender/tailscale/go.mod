module github.com/foliofs/folio/lab/contender/tailscale

go 1.26.0

require github.com/foliofs/folio/lab/workload v0.0.0-00010101000000-000000000000

replace github.com/foliofs/folio/lab/workload => ../../workload
