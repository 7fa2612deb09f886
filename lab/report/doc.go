// Package report makes a page of result files: one HTML file that needs no network, light and dark,
// for a phone and for a desk. Next to it lie the samples as CSV, as JSON and in Go's benchmark
// format.
//
// A page is a pure function of the sets that were read. Its statistics are those of
// golang.org/x/perf/benchmath (package figure). No verdict calls a contender faster than another
// unless the U test, corrected for the number of contenders, tells them apart.
//
//	Page      all of it
//	Question  for example, how fast a row is found by its rowid: a verdict over its panels
//	Panel     one case: a verdict, a chart, a table, and the command that makes it. So figures of
//	          two groups of durability never meet (rule 1)
//	Scale     cases that differ in one number: a chart over goroutines, or over a size
//
// Runs are not pooled: the same case in two runs is two panels, and package compare tells whether
// they differ.
//
// The browser draws the charts with Apache ECharts. assets/echarts.min.js holds the parts of it
// that the page needs; "npm ci && npm run build" in assets/echarts builds it. Everything else,
// above all the tables, is in the HTML, and readable without scripts.
package report
