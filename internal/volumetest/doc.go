// Package volumetest tests whole volumes: after a crash, a kill, on a failing or a full disk, with
// rows changed at random; random calls compared with os.Root; benchmarks next to the operating
// system. The tests of a single file of package folio stay next to that file. The package itself
// has the helpers that both share.
package volumetest
