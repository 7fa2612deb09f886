package workload

import "time"

// A Request is a line to a contender. One member is set.
type Request struct {
	Describe *Describe `json:"describe,omitempty"`
	Make     *Make     `json:"make,omitempty"`
	Probe    *Probe    `json:"probe,omitempty"`
	Job      *Job      `json:"job,omitempty"`
	Go       *Go       `json:"go,omitempty"`
}

// Describe asks for the contender's description.
type Describe struct{}

// Make asks for the database of the lookups.
type Make struct {
	Folder Folder `json:"folder"`
	Path   string `json:"path"` // of a file that is not there
}

// Go starts the clock.
type Go struct{}

// A Job is one sample to take.
type Job struct {
	Workload  string     `json:"workload"`
	API       string     `json:"api"`
	Values    Values     `json:"values"` // flags of the workload, and parameters of the case in the place of lists
	Group     Group      `json:"group"`
	Dir       string     `json:"dir"`          // new and empty, for all files of the store
	DB        string     `json:"db,omitempty"` // the database that all contenders read
	Seed      uint64     `json:"seed"`
	Statement *Statement `json:"statement,omitempty"` // of the user
	Server    string     `json:"server,omitempty"`    // address of a server, for contenders that need one
}

// A Reply is a line from a contender. One member is set.
type Reply struct {
	About     *About     `json:"about,omitempty"`
	Rows      *int       `json:"rows,omitempty"` // the number of rows that are made
	Statement *Statement `json:"statement,omitempty"`
	Ready     *Ready     `json:"ready,omitempty"`
	Done      *Done      `json:"done,omitempty"`
	Error     *Error     `json:"error,omitempty"`
}

// An About describes a contender.
type About struct {
	Name    string            `json:"name"`
	Module  string            `json:"module"` // of the library; its version is in Modules
	Modules map[string]string `json:"modules"`
	Build   map[string]string `json:"build"`
	APIs    []AboutAPI        `json:"apis"`
}

// An AboutAPI describes one API of a contender.
type AboutAPI struct {
	Name           string   `json:"name"`
	Title          string   `json:"title"`
	Kind           string   `json:"kind"`
	Ours           bool     `json:"ours,omitempty"`
	Workloads      []string `json:"workloads"`
	Probes         bool     `json:"probes,omitempty"` // the user's statement
	Makes          bool     `json:"makes,omitempty"`  // the database of the lookups
	Groups         []Group  `json:"groups"`           // that it can promise
	SQLite         string   `json:"sqlite,omitempty"`
	CompileOptions []string `json:"compile_options,omitempty"`
	Notes          []string `json:"notes,omitempty"`
	Error          string   `json:"error,omitempty"` // why it cannot work here
}

// Ready says that the clock may start.
type Ready struct {
	Group    Group               `json:"group"`    // that the store was opened for
	Settings []map[string]string `json:"settings"` // read back, one for each connection
	WarmUp   WarmUp              `json:"warm_up"`
}

// WarmUp is the work before the clock started.
type WarmUp struct {
	Ops     int64   `json:"ops"`
	Seconds float64 `json:"seconds"`
}

// Done is the result of a measurement.
type Done struct {
	Ops      int64      `json:"ops"`
	Seconds  float64    `json:"seconds"`
	Answer   Answer     `json:"answer"`
	Timed    int64      `json:"timed"`
	Curve    []Quantile `json:"curve,omitempty"`
	Use      Use        `json:"use"`
	Size     *int64     `json:"size,omitempty"`
	Log      *int64     `json:"log,omitempty"`
	Busy     int64      `json:"busy"`
	Prepares int64      `json:"prepares"` // statements that were prepared while the clock ran, or for it
}

// A Quantile says how long the share At of the timed operations took at most.
type Quantile struct {
	At   float64       `json:"at"`
	Time time.Duration `json:"time"`
}

// Use is the cost of the work, without warming up. Only PeakMemory counts the whole process. An
// unknown value is nil.
type Use struct {
	Allocs     *int64 `json:"allocs,omitempty"`      // objects that Go allocated; allocations of C are not known
	AllocBytes *int64 `json:"alloc_bytes,omitempty"` // bytes of these
	// UserSeconds and SystemSeconds are processor time, of all cores.
	UserSeconds   *float64 `json:"user_seconds,omitempty"`
	SystemSeconds *float64 `json:"system_seconds,omitempty"`
	PeakMemory    *int64   `json:"peak_memory,omitempty"`   // most bytes resident: Go's heap, C's heap, mapped files
	WrittenBytes  *int64   `json:"written_bytes,omitempty"` // for the device, caused by this process
}

// An Error ends a job.
type Error struct {
	Wrong   bool   `json:"wrong,omitempty"` // a wrong answer
	Message string `json:"message"`
}

// An Answer sums up the findings of a contender, or the content of its store. It does not depend on
// the order.
type Answer struct {
	Count  int64  `json:"count"`
	Digest uint64 `json:"digest"`
}

// Add takes one more item in.
func (a *Answer) Add(id int64, text string) {
	a.Count++
	a.Digest += fold(id, text)
}

// AddBytes is Add for bytes.
func (a *Answer) AddBytes(id int64, b []byte) {
	a.Count++
	a.Digest += fold(id, b)
}

// Plus adds another answer.
func (a *Answer) Plus(b Answer) {
	a.Count += b.Count
	a.Digest += b.Digest
}
