package claim

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"
)

// begin and end are the marks in a document between which the figures of a part stand.
func (p Place) begin() string {
	return fmt.Sprintf("<!-- %s: made by go -C lab test ./claim -update -->\n", p.Part)
}

func (p Place) end() string { return fmt.Sprintf("<!-- end of %s -->\n", p.Part) }

// Places are all that have claims.
func Places() (list []Place) {
	for _, row := range Rows {
		if !slices.Contains(list, row.Place) {
			list = append(list, row.Place)
		}
	}
	return list
}

// write writes the figures of a report into the documents and the charts of a project.
func (r *Report) write(project string) error {
	if err := r.writeCharts(project); err != nil {
		return err
	}
	for _, p := range Places() {
		path := filepath.Join(project, p.Doc)
		old, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		text, err := r.edit(string(old), p)
		if err != nil {
			return fmt.Errorf("%s: %w", path, err)
		}
		if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
			return err
		}
	}
	return nil
}

// edit replaces the text between the marks of a place.
func (r *Report) edit(text string, p Place) (string, error) {
	head, rest, ok := strings.Cut(text, p.begin())
	_, tail, ok2 := strings.Cut(rest, p.end())
	if !ok || !ok2 {
		return "", fmt.Errorf("there are no marks for figures: %q and %q", p.begin(), p.end())
	}
	return head + p.begin() + r.section(p) + p.end() + tail, nil
}

// section returns the text of a place: charts, a table, and its origin.
func (r *Report) section(p Place) string {
	var b strings.Builder
	b.WriteString(pictures(p) + "\n| what | compared with | result | claim |\n|---|---|---|---|\n")
	for _, row := range Rows {
		if row.Place == p {
			fmt.Fprintf(&b, "| %s | %s | %s | `%s` |\n", row.What, row.beside(), r.cell(&row), row.Name)
		}
	}
	fmt.Fprintf(&b, "\n%s\n\n", r.origin(p))
	return b.String()
}

// day returns the day on which the figures of a place were measured: the latest, if some of them
// were measured later than others.
func (r *Report) day(p Place) (day time.Time) {
	day = r.Started
	for _, row := range Rows {
		for _, c := range row.Claims {
			if res := r.Result(c.Name); row.Place == p && res.Measured.After(day) {
				day = res.Measured
			}
		}
	}
	return day
}

// beside names the peers of a row, each once.
func (row *Row) beside() string {
	var list []string
	for _, c := range row.Claims {
		if c.Beside != "" && !slices.Contains(list, c.Beside) {
			list = append(list, c.Beside)
		}
	}
	return strings.Join(list, "; ")
}

// cell lists the figures of a row. It writes a unit that several of them share once.
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

// counts returns the unit of a claim's figure in words.
func (c *Claim) counts() string {
	switch c.Kind {
	case Faster:
		return "times as fast"
	case Growth:
		return "times " + c.Label
	}
	return c.Label
}

// origin says where the figures of a place come from.
func (r *Report) origin(p Place) string {
	m := r.Machine
	var systems []string
	for _, d := range r.Dirs {
		systems = append(systems, d.Kind())
	}
	fewer := ""
	if slices.ContainsFunc(r.Results, func(res Result) bool { return res.Figure != nil && res.Samples < r.Samples }) {
		fewer = ", fewer where they take long,"
	}
	return fmt.Sprintf("Medians of %d samples%s of %s: %s, %d cores, %s, Go %s, all files in memory unless a row says otherwise. `go -C lab run . claims CLAIM` measures a row.",
		r.Samples, fewer, r.day(p).Format("2 January 2006"), m.CPU, m.Cores, strings.Join(systems, " and "), strings.TrimPrefix(m.Go, "go"))
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

// renew judges the figures of a report by the goals that the claims have now. It drops the results
// of claims that are gone.
func (r *Report) renew() {
	results := r.Results[:0]
	for _, res := range r.Results {
		found, err := Find([]string{res.Claim})
		if err != nil {
			continue
		}
		res.Asked = found[0].Asked
		if res.Figure != nil {
			res.Verdict = found[0].verdict(res.Figure.Value)
		}
		results = append(results, res)
	}
	r.Results = results
}
