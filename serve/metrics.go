package serve

import (
	"fmt"
	"sync"
	"time"

	vm "github.com/VictoriaMetrics/metrics"
)

// metrics are the counts of a server, in the form of Prometheus.
type metrics struct {
	set            *vm.Set
	sent, received *vm.Counter
	repeated       *vm.Counter // requests that the lane answered
	active         *vm.Gauge
	took           *vm.PrometheusHistogram
	requests       sync.Map // from requestKind to *vm.Counter
}

// A requestKind is what requests are counted by.
type requestKind struct {
	method string
	status int
}

func newMetrics() *metrics {
	set := vm.NewSet()
	return &metrics{
		set:      set,
		sent:     set.NewCounter("folio_http_sent_bytes_total"),
		received: set.NewCounter("folio_http_received_bytes_total"),
		repeated: set.NewCounter("folio_http_repeated_total"),
		active:   set.NewGauge("folio_http_requests_active", nil),
		took:     set.NewPrometheusHistogram("folio_http_request_duration_seconds"),
	}
}

func (m *metrics) begin() { m.active.Inc() }

// end counts a request. Methods that are not known count as one, so that clients cannot make up
// series.
func (m *metrics) end(method string, status int, took time.Duration) {
	m.active.Dec()
	if !knownMethods[method] {
		method = "other"
	}
	m.counter(requestKind{method, status}).Inc()
	m.took.Update(took.Seconds())
}

func (m *metrics) counter(k requestKind) *vm.Counter {
	if c, ok := m.requests.Load(k); ok {
		return c.(*vm.Counter)
	}
	c := m.set.GetOrCreateCounter(fmt.Sprintf(`folio_http_requests_total{method=%q,status="%d"}`, k.method, k.status))
	m.requests.Store(k, c)
	return c
}

var knownMethods = map[string]bool{
	"GET": true, "HEAD": true, "OPTIONS": true, "PUT": true, "POST": true, "PATCH": true, "DELETE": true,
	"PROPFIND": true, "PROPPATCH": true, "MKCOL": true, "MOVE": true, "COPY": true, "LOCK": true, "UNLOCK": true,
}
