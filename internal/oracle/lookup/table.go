package main

import (
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/foliofs/folio/internal/oracle/lookup/bench"
)

// An experiment is one way to look up.
type experiment struct {
	by         string
	goroutines int
}

var experiments = []experiment{{"id", 1}, {"id", 22}, {"path", 1}, {"path", 22}}

// A table holds all samples.
type table struct {
	contenders []*contender
	samples    map[cell][]*bench.Result
}

// A cell is a contender in an experiment.
type cell struct {
	contender string
	experiment
}

// sample takes all samples; in each round every contender has its turn in every experiment.
func sample(s settings, db string, contenders []*contender) (*table, error) {
	t := &table{samples: make(map[cell][]*bench.Result)}
	for _, c := range contenders {
		if c.available(s, db) {
			t.contenders = append(t.contenders, c)
		}
	}
	for i := range s.samples {
		fmt.Fprintf(os.Stderr, "\rsample %d of %d ", i+1, s.samples)
		for _, e := range experiments {
			for _, c := range t.contenders {
				r, err := c.run(s, db, e)
				if err != nil {
					return nil, err
				}
				key := cell{c.name, e}
				t.samples[key] = append(t.samples[key], r)
			}
		}
	}
	fmt.Fprintln(os.Stderr)
	return t, nil
}

// rates are the reads a second of a cell's samples, sorted.
func (t *table) rates(key cell) []float64 {
	var rates []float64
	for _, r := range t.samples[key] {
		rates = append(rates, float64(r.Reads)/r.Seconds)
	}
	slices.Sort(rates)
	return rates
}

func median(sorted []float64) float64 {
	n := len(sorted)
	if n == 0 {
		return 0
	}
	return (sorted[(n-1)/2] + sorted[n/2]) / 2
}

// fastest is the driver with the highest median, and that.
func (t *table) fastest(e experiment) (name string, rate float64) {
	for _, c := range t.contenders {
		if m := median(t.rates(cell{c.name, e})); c.name != ours && m > rate {
			name, rate = c.name, m
		}
	}
	return name, rate
}

// perRead is the median over a cell's samples of a quantity divided by the reads.
func (t *table) perRead(key cell, quantity func(*bench.Result) float64) float64 {
	var all []float64
	for _, r := range t.samples[key] {
		all = append(all, quantity(r)/float64(r.Reads))
	}
	slices.Sort(all)
	return median(all)
}

func allocs(r *bench.Result) float64 { return float64(r.Allocs) }

func cpuNanos(r *bench.Result) float64 { return r.CPUSeconds * 1e9 }

// print writes a table of medians with their range, and a verdict below.
func (t *table) print(w io.Writer) {
	for _, c := range t.contenders {
		fmt.Fprintf(w, "%s: %s\n", c.name, t.settings(c.name))
	}
	fmt.Fprintln(w)
	tw := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintf(tw, "by\tgoroutines\tcontender\treads/s\tmin\tmax\tCPU ns/read\tallocs/read\t\n")
	for _, e := range experiments {
		for _, c := range t.contenders {
			key := cell{c.name, e}
			rates := t.rates(key)
			fmt.Fprintf(tw, "%s\t%d\t%s\t%.0f\t%.0f\t%.0f\t%.0f\t%.4f\t\n", e.by, e.goroutines, c.name,
				median(rates), rates[0], rates[len(rates)-1], t.perRead(key, cpuNanos), t.perRead(key, allocs))
		}
	}
	tw.Flush()
	fmt.Fprintln(w)
	for _, e := range experiments {
		t.printRatio(w, e)
	}
}

// printRatio compares ours with the fastest driver, by the clock and by processor time: on a machine that others use too
// the clock is noisy.
func (t *table) printRatio(w io.Writer, e experiment) {
	name, rate := t.fastest(e)
	key := cell{ours, e}
	m := median(t.rates(key))
	if m == 0 || rate == 0 {
		return
	}
	fmt.Fprintf(w, "by %-4s %2d goroutines: %.1f times the fastest driver (%s), %.4f allocations a read", e.by, e.goroutines, m/rate, name,
		t.perRead(key, allocs))
	if cpu := t.perRead(key, cpuNanos); cpu > 0 {
		name, least := t.thriftiest(e)
		fmt.Fprintf(w, "; by processor time %.1f times (%s)", least/cpu, name)
	}
	fmt.Fprintln(w)
}

// thriftiest is the driver with the lowest median of processor time, and that.
func (t *table) thriftiest(e experiment) (name string, cpu float64) {
	for _, c := range t.contenders {
		if m := t.perRead(cell{c.name, e}, cpuNanos); c.name != ours && (name == "" || m < cpu) {
			name, cpu = c.name, m
		}
	}
	return name, cpu
}

// settings are what a contender's connection said of itself.
func (t *table) settings(name string) string {
	r := t.samples[cell{name, experiments[0]}][0]
	var out []string
	for k, v := range r.Settings {
		out = append(out, k+"="+v)
	}
	slices.Sort(out)
	return strings.Join(out, " ")
}
