// Package report makes of result files a page that a colleague can be handed: one HTML file that needs no network, light and dark, for a
// phone and for a desk, and beside it the samples as CSV, as JSON and in Go's benchmark format.
//
// A page is a pure function of the sets that were read. What it says of contenders it says with golang.org/x/perf/benchmath (package
// figure): no sentence calls one faster than another unless the U test, corrected for the number of contenders, tells them apart.
//
//	Page      all of it
//	Question  what is asked, such as how fast a row is found by its rowid: a verdict over its panels
//	Panel     one case: a verdict, a chart, a table, the command that makes it; so figures of two groups of durability never meet (rule 1)
//	Scale     cases that differ in one number: a chart over goroutines, or over a size
//
// Runs are not pooled: what two of them say of the same case are two panels, and package compare tells whether they differ.
//
// Charts are drawn in the browser by Apache ECharts, of which assets/echarts.min.js holds what is needed: "npm ci && npm run build" in
// assets/echarts builds it anew. Everything else, the tables above all, is in the
// HTML, and readable without scripts.
package report
