package result

import "time"

// A Record is one line of a result file. Exactly one member is set.
type Record struct {
	Run       *Run       `json:"run,omitempty"`
	Contender *Contender `json:"contender,omitempty"`
	Case      *Case      `json:"case,omitempty"`
	Skip      *Skip      `json:"skip,omitempty"`
	Sample    *Sample    `json:"sample,omitempty"`
	Failure   *Failure   `json:"failure,omitempty"`
	End       *End       `json:"end,omitempty"`
}

// A Run is the header of a result file.
type Run struct {
	Format  int       `json:"format"`
	ID      string    `json:"id"` // of the run, kept when it is resumed
	Started time.Time `json:"started"`
	// Command makes these figures, to be run in the directory of the project: rule 10.
	Command  string   `json:"command"`
	Plan     string   `json:"plan"` // a digest of the cases: a run is resumed only with the same
	Rounds   int      `json:"rounds"`
	Quick    bool     `json:"quick,omitempty"` // a smaller size of everything
	Seed     uint64   `json:"seed"`
	Machine  Machine  `json:"machine"`
	Dirs     []Dir    `json:"dirs"`
	Warnings []string `json:"warnings,omitempty"` // about the machine: it is busy, or its clock is slow
}

// A Machine holds all that the figures depend on except the programs.
type Machine struct {
	OS       string `json:"os"`
	Arch     string `json:"arch"`
	Kernel   string `json:"kernel,omitempty"`
	CPU      string `json:"cpu,omitempty"`
	Cores    int    `json:"cores"`
	Memory   int64  `json:"memory,omitempty"`
	Go       string `json:"go"`
	Compiler string `json:"compiler,omitempty"` // of C: the first line of its --version; "" if there is none
	Revision string `json:"revision,omitempty"` // of this project's source, with "+changes" if it had any
	// Load is the average of the last minute before the run began. Above 1, the machine was busy.
	Load *float64 `json:"load,omitempty"`
}

// A Dir is a directory on which stores are made.
type Dir struct {
	Path       string `json:"path"`
	FileSystem string `json:"file_system"` // ext4, btrfs, tmpfs, ...
	Device     string `json:"device,omitempty"`
	Options    string `json:"options,omitempty"` // of the mount
	Free       int64  `json:"free,omitempty"`
	// NoJournal says that it is an ext4 that was made without a journal.
	NoJournal bool `json:"no_journal,omitempty"`
}

// Kind returns the file system, with any property that sets it apart from others of its name.
func (d Dir) Kind() string {
	if d.NoJournal {
		return d.FileSystem + " without a journal"
	}
	return d.FileSystem
}

// Warning returns a warning about figures from the directory; "" if there is none.
func (d Dir) Warning() string {
	if !d.NoJournal {
		return ""
	}
	return d.Path + " is an ext4 without a journal: where files were removed in the last minutes it takes up to twenty times as long to make one, which flatters all that is compared with files; --dirs takes another"
}

// An End says that no more records follow, unless the run is resumed.
type End struct {
	Ended       time.Time `json:"ended"`
	Interrupted bool      `json:"interrupted,omitempty"`
	Samples     int       `json:"samples"`
	Failures    int       `json:"failures"`
	// How long this part of the run took: building the contenders, making the databases that they
	// share, and all turns.
	Building  float64 `json:"building_seconds"`
	Making    float64 `json:"making_seconds"`
	Measuring float64 `json:"measuring_seconds"`
}
