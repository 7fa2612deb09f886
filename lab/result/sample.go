package result

import "time"

// A Sample is one measurement: a fresh process on a fresh store, or on a database that nothing changes.
type Sample struct {
	Case      string    `json:"case"`
	Contender string    `json:"contender"`
	Round     int       `json:"round"` // from 1; in a round every contender has its turn
	Time      time.Time `json:"time"`  // when it began
	// Ops were done in Seconds, which is the time from the common start of all goroutines to the end of the last one.
	Ops     int64   `json:"ops"`
	Seconds float64 `json:"seconds"`
	// Checked answers were compared with what was known before, and were right: rule 7.
	Checked int64   `json:"checked"`
	Latency Latency `json:"latency"`
	Use     Use     `json:"use"`
	// Size is that of the store on disk when the work was done, the log included; Log is that of the log alone.
	Size *int64 `json:"size,omitempty"`
	Log  *int64 `json:"log,omitempty"`
	Busy int64  `json:"busy"` // refusals because of other writers, each tried again: rule 6
	// WarmUp came before, and is in no other figure: rule 8.
	WarmUp WarmUp `json:"warm_up"`
	// Settings are what the connections answered when they were asked, the same for every one of them: rule 2.
	Settings    map[string]string `json:"settings,omitempty"`
	Connections int               `json:"connections"` // that were asked
	// Series has further figures of the sample in their order, such as the seconds of each round on one database.
	Series map[string][]float64 `json:"series,omitempty"`
}

// Rate is operations a second.
func (s *Sample) Rate() float64 { return float64(s.Ops) / s.Seconds }

// PerOp is nanoseconds an operation, of all goroutines together.
func (s *Sample) PerOp() float64 { return s.Seconds * 1e9 / float64(s.Ops) }

// Latency is how long single operations took. Where operations are so quick that the clock would cost much of what it
// measures, only some of them are timed.
type Latency struct {
	Timed int64         `json:"timed"` // operations; 0 if none could be timed, such as of a whole process
	P50   time.Duration `json:"p50"`
	P90   time.Duration `json:"p90"`
	P99   time.Duration `json:"p99"`
	Max   time.Duration `json:"max"`
	// Curve is the distribution for a chart: points in ascending order.
	Curve []Quantile `json:"curve,omitempty"`
}

// A Quantile says that the share At of operations, from 0 to 1, took no longer than Time.
type Quantile struct {
	At   float64       `json:"at"`
	Time time.Duration `json:"time"`
}

// Use is what the work cost, warming up apart, except for PeakMemory, which is of the process as a whole.
type Use struct {
	Allocs     *int64 `json:"allocs,omitempty"`      // objects that Go allocated; those of C are not known
	AllocBytes *int64 `json:"alloc_bytes,omitempty"` // bytes of these
	GC         *int64 `json:"gc,omitempty"`          // collections
	// UserSeconds and SystemSeconds are processor time, of all cores.
	UserSeconds   *float64 `json:"user_seconds,omitempty"`
	SystemSeconds *float64 `json:"system_seconds,omitempty"`
	PeakMemory    *int64   `json:"peak_memory,omitempty"`   // most bytes resident: Go's heap, C's heap, mapped files
	ReadBytes     *int64   `json:"read_bytes,omitempty"`    // from the device
	WrittenBytes  *int64   `json:"written_bytes,omitempty"` // for the device, caused by this process
	ReadCalls     *int64   `json:"read_calls,omitempty"`    // system calls that read
	WriteCalls    *int64   `json:"write_calls,omitempty"`   // and that write
	MinorFaults   *int64   `json:"minor_faults,omitempty"`
	MajorFaults   *int64   `json:"major_faults,omitempty"`
}

// WarmUp is what was done before the clock started.
type WarmUp struct {
	Ops     int64   `json:"ops"`
	Seconds float64 `json:"seconds"`
}

// A Failure is a sample that could not be taken. The run goes on.
type Failure struct {
	Case      string      `json:"case"`
	Contender string      `json:"contender"`
	Round     int         `json:"round"`
	Time      time.Time   `json:"time"`
	Kind      FailureKind `json:"kind"`
	Error     string      `json:"error"`            // one line
	Stderr    string      `json:"stderr,omitempty"` // the end of what the process wrote there
}

// A FailureKind says what a contender did.
type FailureKind string

// What contenders do wrong.
const (
	FailureCrash    FailureKind = "crash"    // ended by a signal or before its time
	FailureHang     FailureKind = "hang"     // said nothing until the time was over
	FailureWrong    FailureKind = "wrong"    // gave a wrong answer: rule 7
	FailureGarbage  FailureKind = "garbage"  // said something that is not the protocol
	FailureSettings FailureKind = "settings" // is not set as it should be: rule 2
	FailureError    FailureKind = "error"    // said that it failed
)

// A Trace counts the system calls of one process that did the work of a case under strace: those with files, their
// descriptors and mapped memory, from the start of the clock to its end. Of a whole process they are all.
type Trace struct {
	Case      string           `json:"case"`
	Contender string           `json:"contender"`
	Ops       int64            `json:"ops"`   // that were done meanwhile
	Calls     map[string]int64 `json:"calls"` // by name; fsync and fdatasync are always there, be it as 0
}

// PerOp is how often a call was made for an operation.
func (t *Trace) PerOp(name string) float64 { return float64(t.Calls[name]) / float64(t.Ops) }

// Syncs counts what brings data to the disk.
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
	Areas     []Share `json:"areas"`   // those of Areas that have a share, in their order: they add up to 1
	Functions []Share `json:"leaves"`  // the functions with the most, by what they spent themselves
}

// A Share is a part of a profile.
type Share struct {
	Name string  `json:"name"`
	Part float64 `json:"part"` // from 0 to 1
}
