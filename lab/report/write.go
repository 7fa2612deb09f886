package report

import (
	"bufio"
	"cmp"
	"crypto/sha256"
	_ "embed"
	"encoding/base64"
	"encoding/json"
	"errors"
	"html/template"
	"io"
	"os"
	"path"
	"path/filepath"

	"github.com/foliofs/folio/lab/report/figure"
	"github.com/foliofs/folio/lab/result"
)

// PageName is the file that a browser opens.
const PageName = "report.html"

//go:embed assets/page.html
var pageSource string

//go:embed assets/page.css
var style string

//go:embed assets/chart.js
var script string

//go:embed assets/echarts.min.js
var library string

// sources are the text that the template puts into the page unescaped. The policy allows no other
// script to run, even if a result file holds one, and nothing to be loaded from anywhere.
type sources struct {
	*Page
	Style           template.CSS
	Library, Script template.JS
	Policy          string
}

var page = template.Must(template.New("page").Funcs(template.FuncMap{
	"thousands": figure.Thousands,
	"phrase":    Phrase,
	"group":     groupTitle,
	"bytes":     func(n int64) string { return figure.Bytes.Format(float64(n)) },
	"digits":    figure.Digits,
	"family":    func(c result.Contender) Family { return familyOf(&c) },
	"source":    func(c result.Contender) string { return source(&c) },
	"rule":      func(k result.FailureKind) string { return cmp.Or(rules[k], string(k)) },
	"p":         figure.FormatP,
	"number":    figure.Number.Format,
	"percent":   func(part float64) string { return figure.Digits(part*100) + " %" },
}).Parse(pageSource))

// HTML writes the page.
func (p *Page) HTML(w io.Writer) error {
	return page.Execute(w, sources{
		p, template.CSS(style), template.JS(library), template.JS(script),
		"default-src 'none'; style-src 'unsafe-inline'; script-src " + hash(library) + " " + hash(script),
	})
}

// hash names a script in a policy.
func hash(script string) string {
	sum := sha256.Sum256([]byte(script))
	return "'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'"
}

// Write makes a directory with the page, and for each run its samples as BASE.csv, BASE.json and
// BASE.txt, and its profiles in BASE.profiles.
func (p *Page) Write(dir string) error {
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return err
	}
	err := writeFile(filepath.Join(dir, PageName), p.HTML)
	for _, r := range p.Runs {
		base := filepath.Join(dir, r.Base)
		for _, beside := range []struct {
			ending string
			write  func(io.Writer) error
		}{{".csv", r.WriteCSV}, {".txt", r.WriteGoBench}, {".json", r.writeJSON}} {
			if err == nil {
				err = writeFile(base+beside.ending, beside.write)
			}
		}
		if err == nil {
			err = r.copyProfiles(dir)
		}
	}
	return err
}

// profile finds the file of a profile: its name next to the results, and next to the page. ok
// reports whether it is there. Only the last directory that a result file names is believed,
// because the file may come from anywhere.
func (r *Run) profile(p *result.Profile) (from, to string, ok bool) {
	dir, name := path.Split(path.Clean(p.File))
	local := filepath.FromSlash(path.Join(path.Base(dir), name))
	if r.Dir == "" || !filepath.IsLocal(local) {
		return "", "", false
	}
	from = filepath.Join(r.Dir, local)
	info, err := os.Lstat(from)
	return from, r.Base + ".profiles/" + name, err == nil && info.Mode().IsRegular()
}

// copyProfiles copies the profiles next to the page.
func (r *Run) copyProfiles(dir string) error {
	for i := range r.Profiles {
		from, to, ok := r.profile(&r.Profiles[i])
		if !ok {
			continue
		}
		to = filepath.Join(dir, filepath.FromSlash(to))
		err := os.MkdirAll(filepath.Dir(to), 0o777)
		if err == nil {
			err = copyFile(from, to)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func copyFile(from, to string) error {
	data, err := os.ReadFile(from)
	if err != nil {
		return err
	}
	return os.WriteFile(to, data, 0o666)
}

func writeFile(path string, write func(io.Writer) error) error {
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	w := bufio.NewWriter(f)
	return errors.Join(write(w), w.Flush(), f.Close())
}

// jsonRun is a run as one JSON document: the records of its result file, and the figures that were
// made of them.
type jsonRun struct {
	*result.Set
	Figures []jsonFigure `json:"figures"`
}

type jsonFigure struct {
	Case      string `json:"case"`
	Contender string `json:"contender"`
	Figure    string `json:"figure"`
	Unit      string `json:"unit"`
	figure.Estimate
}

func (r *Run) writeJSON(w io.Writer) error {
	doc := jsonRun{Set: r.Set}
	for i := range r.Cases {
		c := &r.Cases[i]
		for _, who := range r.In(c.ID) {
			for _, f := range figure.All {
				if e, ok := figure.Of(f.Values(r.Of(c.ID, who.ID))); ok {
					doc.Figures = append(doc.Figures, jsonFigure{c.ID, who.ID, f.Name, string(f.Unit), e})
				}
			}
		}
	}
	e := json.NewEncoder(w)
	e.SetIndent("", " ")
	return e.Encode(doc)
}
