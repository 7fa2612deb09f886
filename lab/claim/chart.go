package claim

import (
	"bytes"
	_ "embed"
	"fmt"
	"math"
	"path/filepath"
	"strings"
	"text/template"
)

// A Chart is a picture of claims, which stands above the table of its place. Only claims of the
// kind Faster have a bar.
type Chart struct {
	Name  string // of its files in docs/img
	Place Place
	Title string
	Bars  []Bar
}

// A Bar is a claim in a chart.
type Bar struct{ Claim, Label string }

// Charts are all pictures.
var Charts = []Chart{
	{"claims-read", readme, "Reading a volume: times as fast as files", []Bar{
		{"walk-three", "walk three files"},
		{"walk-goroot", "walk the Go distribution"},
		{"cold-walk", "walk the Go sources, cold"},
		{"cold-read", "walk and read them, cold"},
		{"stat-one", "stat one file"},
		{"stat-all", "stat all files, at random"},
		{"readfile-walk", "read files, in order"},
		{"readfile-random", "read files, at random"},
		{"readfile-buffer", "read files into one buffer"},
		{"http-files", "serve files by HTTP"},
		{"large-read", "read 1 GiB"},
		{"large-readat", "read 4 KiB at random"},
	}},
	{"claims-write", readme, "Writing a volume: times as fast as files", []Bar{
		{"writefile-plain", "new file of 100 bytes"},
		{"writefile-rename", "the same, files by rename"},
		{"rewritefile-plain", "replace a file of 100 bytes"},
		{"writers-plain", "100 goroutines"},
		{"writers-rename", "the same, files by rename"},
		{"writers-sync", "100 goroutines, each file synced"},
		{"queue-plain", "queue of 10,000 tasks"},
		{"import-cp", "import, and cp -a"},
		{"large-write", "write 1 GiB"},
		{"large-writeat", "write 4 KiB at random"},
		{"remove-large", "remove 1 GiB"},
	}},
	{"claims-rows", readme, "Rows and values: times as fast as the fastest peer", []Bar{
		{"get-1", "get by rowid: SQLite drivers"},
		{"get-22", "the same, 22 goroutines"},
		{"find-1", "find by unique text: the same"},
		{"find-22", "the same, 22 goroutines"},
		{"insert-loop", "inserts in a loop: mattn"},
		{"insert-crowd", "inserts of 100 goroutines: mattn"},
		{"insert-durable", "synced inserts: mattn"},
		{"queue-rows-drivers", "task queue: SQLite drivers"},
		{"put", "values in a loop: bbolt"},
		{"put-crowd-batch", "values of 100 goroutines: bbolt"},
		{"load", "a million rows at once: mattn"},
		{"delete-range-sqlite", "delete a million rows: mattn"},
	}},
	{"claims-mount", mounting, "Working in a mount: times as fast as files", []Bar{
		{"mount-stat-files", "lstat the Go sources"},
		{"mount-read-files", "read the small ones"},
		{"mount-find-files", "find"},
		{"mount-grep-files", "grep -r"},
		{"mount-find-cold-files", "find, cold"},
		{"mount-grep-cold-files", "grep -r, cold"},
		{"mount-create-files", "create files, one process"},
		{"mount-create-many-files", "create files, eight processes"},
		{"mount-untar-files", "untar the Go distribution"},
		{"mount-status-files", "git status"},
		{"mount-build-files", "go build"},
		{"mount-rm-files", "rm -rf"},
		{"mount-large-write", "write 1 GiB, with fsync"},
		{"mount-large-read", "read 1 GiB"},
		{"mount-large-cold", "read 1 GiB, cold"},
		{"mount-random-read", "read 4 KiB at random"},
		{"mount-random-write", "write 4 KiB at random"},
	}},
}

// A theme is the colors of a chart, for pages with light and with dark letters.
type theme struct{ Name, Back, Text, Grid, Faster, Slower string }

var themes = []theme{
	{"light", "#ffffff", "#1f2328", "#d1d9e0", "#0969da", "#bc4c00"},
	{"dark", "#0d1117", "#f0f6fc", "#3d444d", "#4493f8", "#db6d28"},
}

// file is the name of the picture for a theme, below the project.
func (c *Chart) file(t theme) string {
	return "docs/img/" + c.Name + "-" + t.Name + ".svg"
}

// picture is the text that shows the chart in its document.
func (c *Chart) picture() string {
	up := strings.Repeat("../", strings.Count(c.Place.Doc, "/"))
	near := func(t theme) string { return up + c.file(t) }
	return fmt.Sprintf("<picture>\n<source media=\"(prefers-color-scheme: dark)\" srcset=\"%s\">\n<img alt=\"%s\" src=\"%s\">\n</picture>\n",
		near(themes[1]), c.Title, near(themes[0]))
}

// The measures of a chart, in pixels. The scale is logarithmic.
const (
	chartWidth = 760
	chartTop   = 40 // above the first bar
	barStep    = 24
	scaleLeft  = 250
	scaleRight = chartWidth - 60
)

// The figures at the ends of the scale.
const scaleLeast, scaleMost = 0.1, 100

// scalePlace returns the position of a figure on the scale.
func scalePlace(figure float64) float64 {
	share := math.Log(min(max(figure, scaleLeast), scaleMost)/scaleLeast) / math.Log(scaleMost/scaleLeast)
	return math.Round(scaleLeft + share*(scaleRight-scaleLeft))
}

// drawing is the data of the template.
type drawing struct {
	theme
	Title                 string
	Width, Height, Bottom int
	Ticks                 []tick
	Bars                  []drawnBar
}

type tick struct {
	X    float64
	Text string
}

// A drawnBar begins at 1 on the scale, and ends at its figure.
type drawnBar struct {
	Label, Text, Fill string
	Y                 int
	X, Width          float64 // of the bar
	TextX             float64
	Low, High         float64 // of the interval
	Measured          bool
}

//go:embed chart.svg
var chartText string

var chartTemplate = template.Must(template.New("chart").Parse(chartText))

// chart draws a chart with the figures of a report.
func (r *Report) chart(c *Chart, t theme) []byte {
	bottom := chartTop + len(c.Bars)*barStep
	d := drawing{theme: t, Title: c.Title, Width: chartWidth, Bottom: bottom, Height: bottom + 24}
	for _, x := range []float64{0.1, 0.3, 1, 3, 10, 30, 100} {
		d.Ticks = append(d.Ticks, tick{scalePlace(x), number(x)})
	}
	for i, b := range c.Bars {
		d.Bars = append(d.Bars, r.bar(b, t, chartTop+i*barStep))
	}
	var text bytes.Buffer
	if err := chartTemplate.Execute(&text, d); err != nil {
		panic(err) // it is our template, and a buffer takes everything
	}
	return text.Bytes()
}

// bar draws a claim.
func (r *Report) bar(b Bar, t theme, y int) drawnBar {
	one := scalePlace(1)
	d := drawnBar{Label: b.Label, Y: y, TextX: one + 6, Text: string(Unmeasured)}
	res := r.Result(b.Claim)
	if res.Figure == nil {
		return d
	}
	end := scalePlace(res.Figure.Value)
	d.Measured, d.Fill, d.Text = true, t.Faster, number(res.Figure.Value)
	d.X, d.Width = min(one, end), math.Abs(end-one)
	d.Low, d.High = scalePlace(res.Figure.Low), scalePlace(res.Figure.High)
	d.TextX = max(one, end, d.High) + 6
	if res.Figure.Value < 1 {
		d.Fill = t.Slower
	}
	return d
}

// pictures returns the text that shows the charts of a place.
func pictures(p Place) string {
	var b strings.Builder
	for i := range Charts {
		if Charts[i].Place == p {
			b.WriteString("\n" + Charts[i].picture())
		}
	}
	return b.String()
}

// writeCharts draws all charts into the documents of a project.
func (r *Report) writeCharts(project string) error {
	for i := range Charts {
		for _, t := range themes {
			if err := writeFile(filepath.Join(project, Charts[i].file(t)), r.chart(&Charts[i], t)); err != nil {
				return err
			}
		}
	}
	return nil
}
