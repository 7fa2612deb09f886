package result

import "time"

// A Sample is one measurement: a fresh process on a fresh store, or on a database that nothing
// changes.
type Sample struct {
	Case      string    `json:"case"`
	Contender string    `json:"contender"`
	Round     int       `json:"round"` // from 1; in a round every contender has its turn
	Time      time.Time `json:"time"`  // when it began
	// Ops were done in Seconds, which is the time from the common start of all goroutines to the
	// end of the last one.
	Ops     int64   `json:"ops"`
	Seconds float64 `json:"seconds"`
	// Checked answers were compared with known ones, and were right: rule 7.
	Checked int64   `json:"checked"`
	Latency Latency `json:"latency"`
	Use     Use     `json:"use"`
	// Size is the size of the store on disk at the end of the work, with its log. Log is the size
	// of the log alone.
	Size *int64 `json:"size,omitempty"`
	Log  *int64 `json:"log,omitempty"`
	Busy int64  `json:"busy"` // refusals because of other writers, each tried again: rule 6
	// WarmUp came before, and is in no other figure: rule 8.
	WarmUp WarmUp `json:"warm_up"`
	// Settings are the answers of the connections, the same for each of them: rule 2.
	Settings    map[string]string `json:"settings,omitempty"`
	Connections int               `json:"connections"` // that were asked
}

// Rate is operations a second.
func (s *Sample) Rate() float64 { return float64(s.Ops) / s.Seconds }

// PerOp is nanoseconds an operation, of all goroutines together.
func (s *Sample) PerOp() float64 { return s.Seconds * 1e9 / float64(s.Ops) }

// Latency is the time of single operations. If operations are so quick that the clock would cost
// much of their time, only some of them are timed.
type Latency struct {
	Timed int64         `json:"timed"` // operations; 0 if none could be timed, such as of a whole process
	P50   time.Duration `json:"p50"`
	P90   time.Duration `json:"p90"`
	P99   time.Duration `json:"p99"`
	Max   time.Duration `json:"max"`
	// Curve is the distribution for a chart: points in ascending order.
	Curve []Quantile `json:"curve,omitempty"`
}

// A Failure is a sample that could not be taken. The run goes on.
type Failure struct {
	Case      string      `json:"case"`
	Contender string      `json:"contender"`
	Round     int         `json:"round"`
	Time      time.Time   `json:"time"`
	Kind      FailureKind `json:"kind"`
	Error     string      `json:"error"`            // one line
	Stderr    string      `json:"stderr,omitempty"` // the end of the process's standard error
}

// A FailureKind says how a contender failed.
type FailureKind string

// The kinds of failures.
const (
	FailureCrash    FailureKind = "crash"    // ended by a signal or before its time
	FailureHang     FailureKind = "hang"     // said nothing until the time was over
	FailureWrong    FailureKind = "wrong"    // gave a wrong answer: rule 7
	FailureGarbage  FailureKind = "garbage"  // said something that is not the protocol
	FailureSettings FailureKind = "settings" // has other settings than it must: rule 2
	FailureError    FailureKind = "error"    // said that it failed
)
