package result

import (
	"encoding/csv"
	"io"
	"strconv"
)

// csvHead are the columns of WriteCSV.
var csvHead = []string{
	"workload", "case", "group", "dir", "contender", "module_version", "round", "ops", "unit", "seconds", "ops_per_second",
	"p50_ns", "p90_ns", "p99_ns", "max_ns", "allocs", "alloc_bytes", "user_seconds", "system_seconds", "peak_memory_bytes",
	"read_bytes", "written_bytes", "size_bytes", "log_bytes", "busy", "warm_up_ops", "warm_up_seconds",
}

// WriteCSV writes every sample as a line, below a line with the names of the columns. An unknown
// value is empty.
func (s *Set) WriteCSV(w io.Writer) error {
	lines := [][]string{csvHead}
	for i := range s.Samples {
		lines = append(lines, s.csvLine(&s.Samples[i]))
	}
	return csv.NewWriter(w).WriteAll(lines)
}

func (s *Set) csvLine(m *Sample) []string {
	c, who := s.Case(m.Case), s.Contender(m.Contender)
	line := []string{c.Workload, c.ID, string(c.Group), c.Dir, who.ID, who.ModuleVersion, itoa(int64(m.Round)), itoa(m.Ops), c.Unit, ftoa(m.Seconds), ftoa(m.Rate())}
	l := m.Latency
	if l.Timed > 0 {
		line = append(line, itoa(int64(l.P50)), itoa(int64(l.P90)), itoa(int64(l.P99)), itoa(int64(l.Max)))
	} else {
		line = append(line, "", "", "", "")
	}
	u := m.Use
	return append(
		line, optional(u.Allocs, itoa), optional(u.AllocBytes, itoa), optional(u.UserSeconds, ftoa), optional(u.SystemSeconds, ftoa),
		optional(u.PeakMemory, itoa), optional(u.ReadBytes, itoa), optional(u.WrittenBytes, itoa), optional(m.Size, itoa), optional(m.Log, itoa),
		itoa(m.Busy), itoa(m.WarmUp.Ops), ftoa(m.WarmUp.Seconds),
	)
}

func itoa(n int64) string { return strconv.FormatInt(n, 10) }

func ftoa(x float64) string { return strconv.FormatFloat(x, 'g', 9, 64) }

// optional formats a value that may be unknown.
func optional[T any](v *T, format func(T) string) string {
	if v == nil {
		return ""
	}
	return format(*v)
}
