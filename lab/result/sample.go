package result

import (
	"time"

	"github.com/foliofs/folio/lab/workload"
)

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
	// Series has further figures of the sample in their order, such as the seconds of each round on
	// one database.
	Series map[string][]float64 `json:"series,omitempty"`
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

// These parts of a sample are as the contender reports them.
type (
	Quantile = workload.Quantile
	Use      = workload.Use
	WarmUp   = workload.WarmUp
)

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

// A Trace counts the system calls of one process that did the work of a case under strace: those
// with files, their descriptors and mapped memory, from the start of the clock to its end. Of a
// whole process they are all.
type Trace struct {
	Case      string           `json:"case"`
	Contender string           `json:"contender"`
	Ops       int64            `json:"ops"`   // that were done meanwhile
	Calls     map[string]int64 `json:"calls"` // by name; fsync and fdatasync are always there, even as 0
}

// Syncs counts the calls that bring data to the disk.
func (t *Trace) Syncs() int64 {
	return t.Calls["fsync"] + t.Calls["fdatasync"] + t.Calls["sync_file_range"] + t.Calls["msync"]
}

// A Profile says where time, or memory, went in one process that did the work of a case.
type Profile struct {
	Case      string  `json:"case"`
	Contender string  `json:"contender"`
	Of        string  `json:"of"`      // "cpu" in seconds or "alloc" in bytes
	File      string  `json:"file"`    // for go tool pprof, relative to the directory of the result file
	Total     float64 `json:"total"`   // of the profile
	Samples   int64   `json:"samples"` // that it was made of: the shares of a few are a guess
	Functions []Share `json:"leaves"`  // the functions with the most of their own
}

// A Share is a part of a profile.
type Share struct {
	Name string  `json:"name"`
	Part float64 `json:"part"` // from 0 to 1
}
