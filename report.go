package folio

import (
	"github.com/foliofs/folio/internal/store"
)

// A CheckReport has the problems that [Volume.Check] found.
type CheckReport struct {
	Problems []Problem // at most 100
	Omitted  int       // how many more problems there are

	Nodes, Entries, Chunks, Xattrs int64 // how many rows of each table were checked
	Bytes                          int64 // of stored contents
}

// OK reports whether Check found no problem.
func (r *CheckReport) OK() bool { return len(r.Problems) == 0 }

// A Problem is one contradiction in a volume.
type Problem struct {
	Ino  uint64 // the inode that it concerns; 0 for the volume as a whole
	Path string // one of its paths, "." for the root; "" if it has none
	What string
}

// A RepairReport has the changes of [Volume.Repair]. The embedded CheckReport has the problems that
// are left.
type RepairReport struct {
	Repairs []Repair // at most 100
	More    int      // how many more repairs there were
	CheckReport
}

// A Repair is a problem that [Volume.Repair] or [RepairSchema] has solved.
type Repair struct {
	Problem
	Done string // how it was repaired
}

func checkReport(r *store.Report) *CheckReport {
	c := &CheckReport{
		Omitted: r.Omitted, Nodes: r.Nodes, Entries: r.Entries, Chunks: r.Chunks, Xattrs: r.Xattrs, Bytes: r.Bytes,
	}
	for _, p := range r.Problems {
		c.Problems = append(c.Problems, problem(p))
	}
	return c
}

func problem(p store.Problem) Problem { return Problem{Ino: uint64(p.Ino), Path: p.Path, What: p.What} }

func repairs(list []store.Repair) (made []Repair) {
	for _, r := range list {
		made = append(made, Repair{Problem: problem(r.Problem), Done: r.Done})
	}
	return made
}
