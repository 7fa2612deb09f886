package serve

import (
	"fmt"
	"time"

	vm "github.com/VictoriaMetrics/metrics"
)

// metrics are the counts of a server, in the form of Prometheus.
type metrics struct {
	set            *vm.Set
	sent, received *vm.Counter
	active         *vm.Gauge
	took           *vm.PrometheusHistogram
}

func newMetrics() *metrics {
	set := vm.NewSet()
	return &metrics{
		set:      set,
		sent:     set.NewCounter("folio_http_sent_bytes_total"),
		received: set.NewCounter("folio_http_received_bytes_total"),
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
	m.set.GetOrCreateCounter(fmt.Sprintf(`folio_http_requests_total{method=%q,status="%d"}`, method, status)).Inc()
	m.took.Update(took.Seconds())
}

var knownMethods = map[string]bool{
	"GET": true, "HEAD": true, "OPTIONS": true, "PUT": true, "POST": true, "PATCH": true, "DELETE": true,
	"PROPFIND": true, "PROPPATCH": true, "MKCOL": true, "MOVE": true, "COPY": true, "LOCK": true, "UNLOCK": true,
}
