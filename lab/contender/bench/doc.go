// Package bench holds the benchmarks that claims need and no workload of the laboratory has. Both
// sides of each are in one program, which compares their answers. The benchmarks are tests of this
// package, because they share the module of the contenders:
//
//	go -C lab/contender test ./bench -run '^$' -bench . -benchtime 1x
//
// TMPDIR says on which disk.
package bench
