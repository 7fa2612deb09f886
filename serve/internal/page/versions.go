package page

import (
	"bytes"
	"io"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/rogpeppe/go-internal/diff"
)

// Versions is the page with the earlier versions of a file or directory: URL?versions.
type Versions struct {
	Frame
	List     []Version // newest first
	Writable bool      // they can be restored
}

// A Version is the state of a file in some snapshots.
type Version struct {
	Snapshots []string // that have it, newest first; none for the file as it is
	Time      time.Time
	Size      int64
	Href      string // of the page of the file in that state
	Gone      bool   // the file was not there
}

// A version is a Version as its template needs it.
type version struct {
	*Version
	Name, Diff string // the newest snapshot, and the URL of the difference to the file as it is
	More       int
}

// Title returns the text of the browser's tab.
func (v *Versions) Title() string { return "Earlier versions of " + v.Name() }

// WriteVersions writes the page of earlier versions.
func (p *Pages) WriteVersions(w io.Writer, v *Versions) error {
	list := make([]version, len(v.List))
	for i := range v.List {
		list[i] = version{Version: &v.List[i]}
		if names := v.List[i].Snapshots; len(names) > 0 {
			list[i].Name, list[i].More = names[0], len(names)-1
			list[i].Diff = v.Href() + "?" + paramDiff + "=" + url.QueryEscape(names[0])
		}
	}
	return p.write(w, "versions.html", struct {
		*Versions
		Rows []version
	}{v, list})
}

// MaxDiff is how many bytes of a file are compared.
const MaxDiff = 1 << 20

// A Difference is the page that compares a file, or a directory, with an earlier state:
// URL?diff=SNAPSHOT.
type Difference struct {
	Frame
	From, To string    // snapshots; To is "" for the file as it is
	Old, New []byte    // contents, nil if they are larger than MaxDiff
	TooLarge bool      // they are not compared for that reason
	Changes  []Changed // of a directory
	Writable bool
}

// A Changed is a name that differs between two states of a directory.
type Changed struct {
	What    string // "new", "removed", "moved", "changed" or "attributes"
	Path    string // from the root of the tree
	OldPath string // where it was, if it was moved
}

// A diffLine is a line of a difference.
type diffLine struct {
	Class    string // "add", "del", "hunk" or ""
	Sign     string
	Text     string
	Old, New int // the number of the line on both sides, or 0
}

// Title returns the text of the browser's tab.
func (d *Difference) Title() string { return "Changes of " + d.Name() }

// Href returns the URL of the page of a name that has changed.
func (c Changed) Href(root string) string {
	if c.What == "removed" {
		return ""
	}
	return root + escape(c.Path) + "?" + paramView
}

// WriteDifference writes the page of a comparison.
func (p *Pages) WriteDifference(w io.Writer, d *Difference) error {
	view := struct {
		*Difference
		Lines          []diffLine
		Added, Removed int
		Binary, Same   bool
	}{Difference: d}
	switch {
	case d.IsDir:
		view.Same = len(d.Changes) == 0
	case d.TooLarge || len(d.Old) > MaxDiff || len(d.New) > MaxDiff:
		view.TooLarge = true
	case kindOfContent(d.Old) == kindBinary || kindOfContent(d.New) == kindBinary:
		view.Binary, view.Same = true, bytes.Equal(d.Old, d.New)
	default:
		view.Lines = diffLines(diff.Diff("a", d.Old, "b", d.New))
		view.Same = len(view.Lines) == 0
	}
	for _, l := range view.Lines {
		switch l.Class {
		case "add":
			view.Added++
		case "del":
			view.Removed++
		}
	}
	return p.write(w, "difference.html", view)
}

// diffLines reads a unified diff.
func diffLines(unified []byte) (list []diffLine) {
	text := strings.ToValidUTF8(string(unified), "\uFFFD")
	_, text, ok := strings.Cut(text, "\n+++ b\n")
	if !ok {
		return nil
	}
	var older, newer int
	for line := range strings.SplitSeq(strings.TrimSuffix(text, "\n"), "\n") {
		sign, rest := line[:min(len(line), 1)], line[min(len(line), 1):]
		switch sign {
		case "@":
			older, newer = hunk(line)
			list = append(list, diffLine{Class: "hunk", Text: line})
		case "+":
			list = append(list, diffLine{Class: "add", Sign: "+", Text: rest, New: newer})
			newer++
		case "-":
			list = append(list, diffLine{Class: "del", Sign: "-", Text: rest, Old: older})
			older++
		case `\`:
			list = append(list, diffLine{Class: "hunk", Text: "No newline at the end"})
		default:
			list = append(list, diffLine{Text: rest, Old: older, New: newer})
			older++
			newer++
		}
	}
	return list
}

// hunk returns the numbers of the lines with which a part of a unified diff begins.
func hunk(line string) (older, newer int) {
	fields := strings.Fields(line)
	if len(fields) < 3 {
		return 0, 0
	}
	return number(fields[1]), number(fields[2])
}

// number returns the first of a pair such as -12,3.
func number(pair string) int {
	first, _, _ := strings.Cut(strings.TrimLeft(pair, "-+"), ",")
	n, _ := strconv.Atoi(first) // 0 if it is none
	return n
}
