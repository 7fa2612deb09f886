package claim

import (
	"bytes"
	_ "embed"
	"fmt"
	"math"
	"path/filepath"
	"slices"
	"strings"
	"text/template"
)

// A Chart is a picture of claims, which stands above the table of its place. Only claims of the
// kind Faster have a bar.
type Chart struct {
	Name  string // of its files in docs/img, and in the claims that have a bar
	Part  string
	Title string
}

// Charts are all pictures.
var Charts = []Chart{
	{"claims-read", readmePart, "Reading a volume: times as fast as files"},
	{"claims-write", readmePart, "Writing a volume: times as fast as files"},
	{"claims-rows", readmePart, "Rows and values: times as fast as the fastest peer"},
	{"claims-mount", "mount", "Working in a mount: times as fast as files"},
}

// bars are the claims that have a bar.
func (c *Chart) bars() []*Claim {
	return slices.DeleteFunc(All(), func(one *Claim) bool { return one.Chart != c.Name })
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
	up := strings.Repeat("../", strings.Count(placeOf(c.Part).Doc, "/"))
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

//go:embed testdata/chart.svg
var chartText string

var chartTemplate = template.Must(template.New("chart").Parse(chartText))

// chart draws a chart with the figures of a report.
func (r *Report) chart(c *Chart, bars []*Claim, t theme) []byte {
	bottom := chartTop + len(bars)*barStep
	d := drawing{theme: t, Title: c.Title, Width: chartWidth, Bottom: bottom, Height: bottom + 24}
	for _, x := range []float64{0.1, 0.3, 1, 3, 10, 30, 100} {
		d.Ticks = append(d.Ticks, tick{scalePlace(x), number(x)})
	}
	for i, b := range bars {
		d.Bars = append(d.Bars, r.bar(b, t, chartTop+i*barStep))
	}
	var text bytes.Buffer
	if err := chartTemplate.Execute(&text, d); err != nil {
		panic(err) // it is our template, and a buffer takes everything
	}
	return text.Bytes()
}

// bar draws a claim.
func (r *Report) bar(c *Claim, t theme, y int) drawnBar {
	one := scalePlace(1)
	d := drawnBar{Label: c.Bar, Y: y, TextX: one + 6, Text: string(Unmeasured)}
	res := r.Result(c.Name)
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
		if Charts[i].Part == p.Part {
			b.WriteString("\n" + Charts[i].picture())
		}
	}
	return b.String()
}

// writeCharts draws all charts into the documents of a project.
func (r *Report) writeCharts(project string) error {
	for i := range Charts {
		for _, t := range themes {
			if err := writeFile(filepath.Join(project, Charts[i].file(t)), r.chart(&Charts[i], Charts[i].bars(), t)); err != nil {
				return err
			}
		}
	}
	return nil
}
