// Write measures small transactions, side by side: the engine, drivers of SQLite, bbolt and plain files, each a program of its own
// in a fresh directory.
//
//	go -C internal/oracle run ./write
//
// It builds the contenders into the user's cache directory. They take turns, a fresh process and a fresh store for each sample. What each store
// holds afterwards is read back and compared with what was written; databases also go through C SQLite's integrity_check. What it
// prints are medians, and the ratio of ours to each of the others.
package main

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/foliofs/folio/internal/oracle/folder"
	"github.com/foliofs/folio/internal/oracle/write/bench"
)

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, "write:", err)
		os.Exit(1)
	}
}

// settings are the flags.
type settings struct {
	samples int
	dir     string // of the contenders
	store   string // where the stores are made
	only    string
}

func run() error {
	var s settings
	flag.IntVar(&s.samples, "samples", 5, "samples of each figure")
	flag.StringVar(&s.dir, "contenders", "write/contender", "`directory` of the contenders")
	flag.StringVar(&s.store, "dir", "", "`directory` for the stores, on the file system to measure; the user's cache directory by default")
	flag.StringVar(&s.only, "run", "", "experiments whose name begins with this")
	flag.Parse()
	cache, err := folder.CacheDir()
	if err != nil {
		return err
	}
	if s.store == "" {
		s.store = cache
	}
	fmt.Printf("%d samples, %d cores, %s\n", s.samples, runtime.NumCPU(), runtime.Version())
	programs := make(map[string]*program)
	for _, e := range experiments {
		if !strings.HasPrefix(e.name, s.only) {
			continue
		}
		if err := e.run(s, filepath.Join(cache, "write-"), programs); err != nil {
			return err
		}
	}
	return nil
}

// An experiment is what several contenders do, ours first.
type experiment struct {
	name, what string
	args       string
	entries    []entry
}

// An entry is a contender with arguments of its own.
type entry struct{ name, args string }

var sql = []entry{{"folio", ""}, {"mattn", ""}, {"mattn", "-conns 1"}, {"modernc", ""}, {"ncruces", ""}}

var experiments = []experiment{
	{"loop", "10,000 inserts in a loop, one index, WAL, Normal", "-work insert -n 10000", sql},
	{"crowd", "100 goroutines x 1,000 inserts, one index, WAL, Normal", "-work insert -g 100 -n 1000", sql},
	{"task", "100 goroutines x 100 tasks, WAL, Normal", "-work task -g 100 -n 100", sql},
	{"task as files", "100 goroutines x 100 tasks beside plain files", "-work task -g 100 -n 100", []entry{{"folio", ""}, {"files", "-durability off"}, {"files", "-durability normal"}}},
	{"durable crowd", "100 goroutines x 100 inserts, each synced", "-work insert -g 100 -n 100 -durability full", []entry{{"folio", ""}, {"files", ""}, {"mattn", ""}}},
	{"durable loop", "3,000 inserts in a loop, each synced", "-work insert -n 3000 -durability full", []entry{{"folio", ""}, {"mattn", ""}}},
	{"put", "10,000 values by random keys in a loop, never synced", "-work put -n 10000 -durability off", []entry{{"folio", ""}, {"bbolt", ""}}},
	{"put crowd", "100 goroutines x 1,000 values by random keys, never synced", "-work put -g 100 -n 1000 -durability off", []entry{{"folio", ""}, {"bbolt", "-batch"}}},
	{"load", "1,000,000 rows in one transaction, random keys, two indexes", "-work load -n 1000000", []entry{{"folio", ""}, {"mattn", ""}}},
}

// run takes the samples and prints what came out.
func (e experiment) run(s settings, prefix string, programs map[string]*program) error {
	samples := make(map[entry][]*bench.Result)
	for i := range s.samples {
		fmt.Fprintf(os.Stderr, "\r%s: sample %d of %d ", e.name, i+1, s.samples)
		for _, c := range e.entries {
			p, err := build(s, prefix, c.name, programs)
			if err != nil {
				return err
			}
			if p.skipped != "" {
				continue
			}
			r, err := p.run(s, e, c)
			if err != nil {
				return fmt.Errorf("%s, %s: %w", e.name, c.name, err)
			}
			samples[c] = append(samples[c], r)
		}
	}
	fmt.Fprint(os.Stderr, "\r\033[K")
	e.print(samples)
	return nil
}

// print writes a table of medians; faster says how many times as fast ours is.
func (e experiment) print(samples map[entry][]*bench.Result) {
	fmt.Printf("\n%s: %s\n", e.name, e.what)
	tw := tabwriter.NewWriter(os.Stdout, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintf(tw, "contender\tseconds\tmin\tmax\tCPU s\tp50 us\tp99 us\tmax us\tbusy\tlog MiB\tours is faster\t\n")
	ours := median(samples[e.entries[0]], seconds)
	for _, c := range e.entries {
		list := samples[c]
		if len(list) == 0 {
			continue
		}
		m := median(list, seconds)
		fmt.Fprintf(tw, "%s %s\t%.3f\t%.3f\t%.3f\t%.3f\t%.1f\t%.0f\t%.0f\t%.0f\t%.1f\t%.2f\t\n", c.name, c.args, m,
			of(list, seconds, slices.Min), of(list, seconds, slices.Max), median(list, cpu),
			median(list, func(r *bench.Result) float64 { return float64(r.P50.Nanoseconds()) / 1e3 }),
			median(list, func(r *bench.Result) float64 { return float64(r.P99.Nanoseconds()) / 1e3 }),
			median(list, func(r *bench.Result) float64 { return float64(r.Max.Nanoseconds()) / 1e3 }),
			of(list, func(r *bench.Result) float64 { return float64(r.Busy) }, slices.Max),
			of(list, func(r *bench.Result) float64 { return float64(r.LogBytes) / (1 << 20) }, slices.Max), m/ours)
	}
	tw.Flush()
}

func seconds(r *bench.Result) float64 { return r.Seconds }

func cpu(r *bench.Result) float64 { return r.CPUSeconds }

func of(list []*bench.Result, quantity func(*bench.Result) float64, fn func([]float64) float64) float64 {
	var all []float64
	for _, r := range list {
		all = append(all, quantity(r))
	}
	return fn(all)
}

func median(list []*bench.Result, quantity func(*bench.Result) float64) float64 {
	return of(list, quantity, func(all []float64) float64 {
		if len(all) == 0 {
			return 0
		}
		slices.Sort(all)
		return (all[(len(all)-1)/2] + all[len(all)/2]) / 2
	})
}
