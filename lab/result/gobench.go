package result

import (
	"bufio"
	"fmt"
	"io"
	"strings"
	"unicode"
)

// WriteGoBench writes every sample as a line of Go's benchmark format, which benchstat reads:
//
//	benchstat -col /contender -row .name samples.txt
func (s *Set) WriteGoBench(w io.Writer) error {
	out := bufio.NewWriter(w)
	m := s.Run.Machine
	fmt.Fprintf(out, "goos: %s\ngoarch: %s\npkg: github.com/foliofs/folio/lab\n", m.OS, m.Arch)
	if m.CPU != "" {
		fmt.Fprintf(out, "cpu: %s\n", m.CPU)
	}
	dir := ""
	for i := range s.Samples {
		sample := &s.Samples[i]
		if c := s.Case(sample.Case); c.Dir != dir {
			dir = c.Dir
			fmt.Fprintf(out, "dir: %s\n", dir)
		}
		s.goBenchLine(out, sample)
	}
	return out.Flush()
}

func (s *Set) goBenchLine(w io.Writer, m *Sample) {
	fmt.Fprintf(w, "%s-%d\t%d\t%.4g ns/op\t%.6g ops/s", goBenchName(m), s.Run.Machine.Cores, m.Ops, m.PerOp(), m.Rate())
	if l := m.Latency; l.Timed > 0 {
		fmt.Fprintf(w, "\t%d p50-ns\t%d p90-ns\t%d p99-ns\t%d max-ns", l.P50, l.P90, l.P99, l.Max)
	}
	perOp := func(total *int64, unit string) {
		if total != nil {
			fmt.Fprintf(w, "\t%.6g %s", float64(*total)/float64(m.Ops), unit)
		}
	}
	u := m.Use
	perOp(u.AllocBytes, "B/op")
	perOp(u.Allocs, "allocs/op")
	perOp(u.WrittenBytes, "written-B/op")
	if u.UserSeconds != nil && u.SystemSeconds != nil {
		fmt.Fprintf(w, "\t%.6g cpu-ns/op", (*u.UserSeconds+*u.SystemSeconds)*1e9/float64(m.Ops))
	}
	if u.PeakMemory != nil {
		fmt.Fprintf(w, "\t%d peak-B", *u.PeakMemory)
	}
	if m.Size != nil {
		fmt.Fprintf(w, "\t%d disk-B", *m.Size)
	}
	fmt.Fprintln(w)
}

// goBenchName is the name of a benchmark: the case with a capital letter, then the contender as a
// parameter.
func goBenchName(m *Sample) string {
	name := strings.Map(func(r rune) rune {
		if unicode.IsSpace(r) {
			return '_'
		}
		return r
	}, m.Case+"/contender="+m.Contender)
	return "Benchmark" + strings.ToUpper(name[:1]) + name[1:]
}
