package serve

import (
	"bufio"
	"cmp"
	"fmt"
	"io"
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

// metrics are the counts of a server.
type metrics struct {
	sent, received atomic.Int64 // bytes
	repeated       atomic.Int64 // requests that the response cache answered
	refused        atomic.Int64 // connections of an address that had too many
	active         atomic.Int64
	took           histogram
	requests       sync.Map // from requestKind to *atomic.Int64
}

// A requestKind is the kind under which requests are counted.
type requestKind struct {
	method string
	status int
}

func (m *metrics) begin() { m.active.Add(1) }

// end counts a request. Methods that are not known count as one, so that clients cannot make up
// series.
func (m *metrics) end(method string, status int, took time.Duration) {
	m.active.Add(-1)
	if !knownMethods[method] {
		method = "other"
	}
	k := requestKind{method, status}
	count, ok := m.requests.Load(k)
	if !ok {
		count, _ = m.requests.LoadOrStore(k, new(atomic.Int64))
	}
	count.(*atomic.Int64).Add(1)
	m.took.add(took)
}

var knownMethods = map[string]bool{
	"GET": true, "HEAD": true, "OPTIONS": true, "PUT": true, "POST": true, "PATCH": true, "DELETE": true,
	"PROPFIND": true, "PROPPATCH": true, "MKCOL": true, "MOVE": true, "COPY": true, "LOCK": true, "UNLOCK": true,
}

// buckets are the upper bounds of a histogram, as Prometheus proposes them.
var buckets = [...]time.Duration{
	5 * time.Millisecond, 10 * time.Millisecond, 25 * time.Millisecond, 50 * time.Millisecond, 100 * time.Millisecond,
	250 * time.Millisecond, 500 * time.Millisecond, time.Second, 2500 * time.Millisecond, 5 * time.Second, 10 * time.Second,
}

// A histogram counts durations.
type histogram struct {
	counts [len(buckets) + 1]atomic.Int64 // of durations up to each bound, and above the bound before it; the last is of all longer ones
	sum    atomic.Int64                   // nanoseconds
}

func (h *histogram) add(d time.Duration) {
	i, _ := slices.BinarySearch(buckets[:], d)
	h.counts[i].Add(1)
	h.sum.Add(int64(d))
}

// write writes the histogram in the form of Prometheus, if each bucket has those below it in it.
func (h *histogram) write(w io.Writer, name string) {
	head(w, name, "histogram")
	var below int64
	for i := range h.counts {
		below += h.counts[i].Load()
		bound := "+Inf"
		if i < len(buckets) {
			bound = fmt.Sprint(buckets[i].Seconds())
		}
		fmt.Fprintf(w, "%s_bucket{le=%q} %d\n", name, bound, below)
	}
	fmt.Fprintf(w, "%s_sum %g\n%s_count %d\n", name, time.Duration(h.sum.Load()).Seconds(), name, below)
}

// write writes the counts in the text form of Prometheus, version 0.0.4.
func (m *metrics) write(w io.Writer) error {
	out := bufio.NewWriter(w)
	for _, c := range []struct {
		name, kind string
		value      *atomic.Int64
	}{
		{"folio_http_received_bytes_total", "counter", &m.received},
		{"folio_http_refused_connections_total", "counter", &m.refused},
		{"folio_http_repeated_total", "counter", &m.repeated},
		{"folio_http_requests_active", "gauge", &m.active},
		{"folio_http_sent_bytes_total", "counter", &m.sent},
	} {
		head(out, c.name, c.kind)
		fmt.Fprintf(out, "%s %d\n", c.name, c.value.Load())
	}
	m.took.write(out, "folio_http_request_duration_seconds")
	var kinds []requestKind
	m.requests.Range(func(k, _ any) bool {
		kinds = append(kinds, k.(requestKind))
		return true
	})
	slices.SortFunc(kinds, func(a, b requestKind) int {
		return cmp.Or(cmp.Compare(a.method, b.method), cmp.Compare(a.status, b.status))
	})
	head(out, "folio_http_requests_total", "counter")
	for _, k := range kinds {
		count, _ := m.requests.Load(k)
		fmt.Fprintf(out, "folio_http_requests_total{method=%q,status=\"%d\"} %d\n", k.method, k.status, count.(*atomic.Int64).Load())
	}
	return out.Flush()
}

// head writes the line that says of which kind a metric is.
func head(w io.Writer, name, kind string) { fmt.Fprintf(w, "# TYPE %s %s\n", name, kind) }
