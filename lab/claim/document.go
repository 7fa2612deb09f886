package claim

import (
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// The marks in a document between which its figures stand.
const (
	beginMark = "<!-- claims: made by go -C lab run . claims --write -->\n"
	endMark   = "<!-- end of claims -->\n"
)

// Documents are those that have claims in them.
func Documents() (list []string) {
	for _, row := range Rows {
		if !slices.Contains(list, row.Doc) {
			list = append(list, row.Doc)
		}
	}
	return list
}

// Write puts the figures of a report into the documents of a project, and the report beside them.
func (r *Report) Write(project string) error {
	if r.Quick {
		return errors.New("the figures of a quick run are for looking only; leave --quick out to write them into the documents")
	}
	if err := r.WriteFile(Committed(project)); err != nil {
		return err
	}
	for _, doc := range Documents() {
		if err := r.edit(filepath.Join(project, doc), doc); err != nil {
			return err
		}
	}
	return nil
}

// edit replaces what stands between the marks of a document.
func (r *Report) edit(path, doc string) error {
	text, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	head, tail, err := cut(string(text))
	if err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	return os.WriteFile(path, []byte(head+beginMark+r.Section(doc)+endMark+tail), 0o666)
}

// cut takes out of a text what stands between the marks.
func cut(text string) (head, tail string, err error) {
	head, rest, ok := strings.Cut(text, beginMark)
	_, tail, ok2 := strings.Cut(rest, endMark)
	if !ok || !ok2 {
		return "", "", fmt.Errorf("there are no marks for claims: %q and %q", beginMark, endMark)
	}
	return head, tail, nil
}

// Section is what a document says of the claims in it: a table, and where it comes from.
func (r *Report) Section(doc string) string {
	var b strings.Builder
	b.WriteString("\n| what | beside | result | claim |\n|---|---|---|---|\n")
	var short []string
	for _, row := range Rows {
		if row.Doc != doc {
			continue
		}
		fmt.Fprintf(&b, "| %s | %s | %s | `%s` |\n", row.What, row.beside(), r.cell(&row), row.Name)
		for _, c := range row.Claims {
			if res := r.Result(c.Name); res.Verdict == Short {
				short = append(short, fmt.Sprintf("`%s` %s of %s", c.Name, number(res.Figure.Value), number(*c.Asked)))
			}
		}
	}
	fmt.Fprintf(&b, "\n`go -C lab run . claims CLAIM` measures a row, without names all of them. %s\n", r.origin())
	if len(short) > 0 {
		fmt.Fprintf(&b, "Less than the goal: %s.\n", strings.Join(short, ", "))
	}
	return b.String()
}

// beside names what all claims of a row are compared with, each once.
func (row *Row) beside() string {
	var list []string
	for _, c := range row.Claims {
		if c.Beside != "" && !slices.Contains(list, c.Beside) {
			list = append(list, c.Beside)
		}
	}
	return strings.Join(list, "; ")
}

// cell lists the figures of a row. What several of them count is said once.
func (r *Report) cell(row *Row) string {
	var b strings.Builder
	for i, c := range row.Claims {
		if i > 0 {
			b.WriteString("; ")
		}
		res := r.Result(c.Name)
		if res.Verdict == Unmeasured {
			b.WriteString("not measured")
			continue
		}
		b.WriteString(number(res.Figure.Value))
		if i+1 == len(row.Claims) || row.Claims[i+1].counts() != c.counts() || r.Result(row.Claims[i+1].Name).Verdict == Unmeasured {
			b.WriteString(" " + c.counts())
		}
	}
	return b.String()
}

// counts says what the figure of a claim counts.
func (c *Claim) counts() string {
	switch c.Kind {
	case Faster:
		return "times as fast"
	case Growth:
		return "times " + c.Label
	}
	return c.Label
}

// origin says where the figures come from.
func (r *Report) origin() string {
	m := r.Machine
	var systems []string
	for _, d := range r.Dirs {
		systems = append(systems, d.FileSystem)
	}
	return fmt.Sprintf("These are medians of up to %d samples of %s, on %s with %d cores, %s and Go %s, with the files in memory.",
		r.Samples, r.Started.Format("2 January 2006"), m.CPU, m.Cores, strings.Join(systems, " and "), strings.TrimPrefix(m.Go, "go"))
}

// number writes a figure with as many digits as one can trust.
func number(f float64) string {
	switch {
	case f >= 10:
		return strconv.Itoa(int(math.Round(f)))
	case f == math.Trunc(f):
		return strconv.Itoa(int(f))
	}
	return strconv.FormatFloat(f, 'g', 2, 64)
}
