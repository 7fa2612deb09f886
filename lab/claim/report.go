package claim

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/foliofs/folio/lab/result"
)

// A Report holds the results of claims: docs/claims.json.
type Report struct {
	Header
	Results []Result `json:"results"`
}

// A Header says where and how claims were measured.
type Header struct {
	Command string         `json:"command"`
	Started time.Time      `json:"started"`
	Quick   bool           `json:"quick,omitempty"`
	Samples int            `json:"samples"` // of each figure
	Machine result.Machine `json:"machine"`
	Dirs    []result.Dir   `json:"dirs"`
}

// A Result is the result of a claim.
type Result struct {
	Claim   string   `json:"claim"`
	Verdict Verdict  `json:"verdict"`
	Reason  string   `json:"reason,omitempty"` // why it was not measured
	Asked   *float64 `json:"asked,omitempty"`
	Figure  *Figure  `json:"figure,omitempty"`
	// Ours and Theirs are medians in the unit of the samples. Theirs is the median of the fastest
	// peer, which Peer names.
	Ours    float64 `json:"ours,omitempty"`
	Theirs  float64 `json:"theirs,omitempty"`
	Peer    string  `json:"peer,omitempty"`
	Unit    string  `json:"unit,omitempty"`
	Samples int     `json:"samples,omitempty"`
	// Measured is the day of the figure, if it is not the day of the report.
	Measured time.Time `json:"measured,omitzero"`
}

// A Verdict says whether a figure reaches its goal.
type Verdict string

// The verdicts.
const (
	Holds      Verdict = "holds"
	Short      Verdict = "short"
	NoGoal     Verdict = "measured" // nothing was asked for
	Unmeasured Verdict = "not measured"
)

// judge makes the result of a claim.
func (c *Claim) judge(out *outcome) Result {
	r := Result{Claim: c.Name, Verdict: Unmeasured, Asked: c.Asked}
	ours := out.samples[c.name(c.Ours)][c.unit()]
	if len(ours) == 0 {
		r.Reason = out.why(c.name(c.Ours))
		return r
	}
	var peers [][]float64
	for _, p := range c.Peers {
		samples := out.samples[c.name(p)][c.unit()]
		if len(samples) == 0 {
			r.Reason = out.why(c.name(p))
			return r
		}
		peers = append(peers, samples)
	}
	f := c.Kind.figure(ours, peers)
	r.Figure, r.Ours, r.Unit, r.Samples = &f, median(ours), c.unit(), len(ours)
	if len(peers) > 0 {
		best := fastest(peers)
		r.Peer, r.Theirs = c.Peers[best], median(peers[best])
	}
	r.Verdict = c.verdict(f.Value)
	return r
}

// verdict compares a figure with the goal of a claim.
func (c *Claim) verdict(figure float64) Verdict {
	switch {
	case c.Asked == nil:
		return NoGoal
	case c.meets(figure):
		return Holds
	}
	return Short
}

// Result returns the result of a claim; an unmeasured one if there is none.
func (r *Report) Result(claim string) *Result {
	for i := range r.Results {
		if r.Results[i].Claim == claim {
			return &r.Results[i]
		}
	}
	return &Result{Claim: claim, Verdict: Unmeasured, Reason: "it is new"}
}

// WriteFile writes a report, whole or not at all.
func (r *Report) WriteFile(path string) error { return writeJSON(path, r) }

// Publish writes a report where the documents take it from, with the file systems in place of the
// names of directories.
func (r *Report) Publish(project string) error {
	if r.Quick {
		return errors.New("the figures of a quick run are for looking only; leave --quick out to write them into the documents")
	}
	out := *r
	out.Dirs = nil
	for _, d := range r.Dirs {
		name := strings.ToUpper(d.FileSystem)
		out.Command = strings.ReplaceAll(out.Command, d.Path, name)
		out.Dirs = append(out.Dirs, result.Dir{Path: name, FileSystem: d.FileSystem, Options: d.Options, NoJournal: d.NoJournal})
	}
	return out.WriteFile(Committed(project))
}

// Committed is the file of the figures that the documents show.
func Committed(project string) string { return filepath.Join(project, "docs", "claims.json") }

// ReadFile reads a report.
func ReadFile(path string) (r *Report, err error) { return r, readJSON(path, &r) }

// same refuses to go on with the samples of another run.
func (h *Header) same(now *Header) error {
	a, b := h.Machine, now.Machine
	switch {
	case h.Quick != now.Quick || h.Samples != now.Samples || fmt.Sprint(paths(h.Dirs)) != fmt.Sprint(paths(now.Dirs)):
		return fmt.Errorf("the samples that are there are those of %q; repeat that with --resume, or leave --resume out", h.Command)
	case a.CPU != b.CPU || a.Cores != b.Cores || a.Go != b.Go:
		return errors.New("the samples that are there are of another machine or version of Go; leave --resume out")
	}
	return nil
}

func paths(dirs []result.Dir) (list []string) {
	for _, d := range dirs {
		list = append(list, d.Path)
	}
	return list
}

func writeJSON(path string, v any) error {
	text, err := json.MarshalIndent(v, "", "\t")
	if err != nil {
		return err
	}
	return writeFile(path, append(text, '\n'))
}

// writeFile writes a file, whole or not at all, and makes its directory if need be.
func writeFile(path string, text []byte) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
		return err
	}
	if err := os.WriteFile(path+".tmp", text, 0o666); err != nil {
		return err
	}
	return os.Rename(path+".tmp", path)
}

func readJSON(path string, v any) error {
	text, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	if err := json.Unmarshal(text, v); err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	return nil
}
