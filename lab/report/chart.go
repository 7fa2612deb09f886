package report

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/foliofs/folio/lab/report/figure"
	"github.com/foliofs/folio/lab/result"
)

// A short is a number with as many digits as can be seen.
type short float64

// MarshalJSON writes five digits.
func (x short) MarshalJSON() ([]byte, error) {
	return strconv.AppendFloat(nil, float64(x), 'g', 5, 64), nil
}

// The data of the charts, as JSON. Values are numbers of the unit, texts are shown.
type (
	// barChart has a row for each contender: a bar with its interval, and next to it the latencies.
	barChart struct {
		Kind string   `json:"kind"` // "bars"
		Unit string   `json:"unit"` // of the values: "read/s"
		Span string   `json:"span"` // that latencies are of: "read"
		Log  bool     `json:"log"`
		Rows []barRow `json:"rows"`
	}
	barRow struct {
		Name   string `json:"name"`
		Family string `json:"family"`
		bar
		Latency []short `json:"latency,omitempty"` // p50, p90, p99, max in nanoseconds
	}
	bar struct {
		Value short  `json:"value"`
		Lo    short  `json:"lo"`
		Hi    short  `json:"hi"`
		Text  string `json:"text"`
		Range string `json:"range"`
	}
	// lineChart has a line for each contender.
	lineChart struct {
		Kind  string      `json:"kind"` // "lines"
		X     axis        `json:"x"`
		Y     axis        `json:"y"`
		Lines []chartLine `json:"lines"`
	}
	axis struct {
		Title string `json:"title"`
		Unit  string `json:"unit"` // "number", "ns", "bytes", or "share" for shares of all operations on a scale of nines
		Log   bool   `json:"log"`
	}
	chartLine struct {
		Name   string     `json:"name"`
		Family string     `json:"family"`
		Points [][2]short `json:"points"`
	}
)

// wide is how many times the least the most must be for a logarithmic scale.
const wide = 30

// logarithmic decides for a scale by its values. A logarithm needs them above 0.
func logarithmic(values []float64) bool {
	if len(values) == 0 || slices.Min(values) <= 0 {
		return false
	}
	return slices.Max(values)/slices.Min(values) > wide
}

// draw makes the charts of a case.
func (p *Panel) draw(page *Page) {
	p.Bars = page.chart(p.ID+"-bars", p.bars())
	if lines := p.curves(); len(lines) > 0 {
		p.Curves = page.chart(p.ID+"-curves", &lineChart{
			"lines", axis{"share of operations", "share", false}, axis{"time per " + p.span(), "ns", true}, lines,
		})
	}
	p.Courses = p.courses(page)
}

// logarithmicLines decides by the values of lines.
func logarithmicLines(lines []chartLine) bool {
	var values []float64
	for _, l := range lines {
		for _, xy := range l.Points {
			values = append(values, float64(xy[1]))
		}
	}
	return logarithmic(values)
}

// span returns the unit of a latency.
func (p *Panel) span() string { return cmp.Or(p.Case.Span, p.Case.Unit, "operation") }

func (p *Panel) bars() *barChart {
	c := &barChart{Kind: "bars", Unit: perSecond(p.Case), Span: p.span()}
	var values []float64
	for _, row := range p.Rows {
		values = append(values, row.Rate.Median)
		c.Rows = append(c.Rows, barRow{row.Contender.ID, row.Family.Key, row.bar(), percentiles(row.Samples)})
	}
	c.Log = logarithmic(values)
	return c
}

// bar is the rate with its interval, or with a range and the number of its samples.
func (r *Row) bar() bar {
	e, u := r.Rate, figure.Number
	text := u.Format(e.Lo) + " – " + u.Format(e.Hi)
	if !e.Interval {
		text = fmt.Sprintf("%s (range; samples: %d)", text, e.N)
	}
	return bar{short(e.Median), short(e.Lo), short(e.Hi), u.Format(e.Median), text}
}

// percentiles are the medians of p50, p90, p99 and max; nil where there is no distribution.
func percentiles(samples []*result.Sample) (list []short) {
	for _, name := range []string{"p50", "p90", "p99", "max"} {
		f, _ := figure.Find(name) // they are there
		e, ok := figure.Of(f.Values(samples))
		if !ok || e.Median <= 0 {
			return nil
		}
		list = append(list, short(e.Median))
	}
	return list
}

// The scale of nines: half, nine of ten, 99 of 100. Each is as far from the one before as it is
// rarer. The last place is the maximum.
const lastNine = 4.5

func nines(at float64) float64 {
	if at >= 1 {
		return lastNine
	}
	return min(-math.Log10(1-max(0, at)), lastNine)
}

// curves are distributions of latencies, where enough operations were timed that there is one.
func (p *Panel) curves() (lines []chartLine) {
	for _, row := range p.Rows {
		byPlace := make(map[float64][]float64)
		for _, m := range row.Samples {
			for _, q := range m.Latency.Curve {
				if q.Time > 0 && m.Latency.Timed >= figure.EnoughTimes {
					byPlace[nines(q.At)] = append(byPlace[nines(q.At)], float64(q.Time))
				}
			}
		}
		if points := medians(byPlace); len(points) > 1 {
			lines = append(lines, chartLine{row.Contender.ID, row.Family.Key, points})
		}
	}
	return lines
}

// medians returns the medians of the values at each place, in ascending order.
func medians(byPlace map[float64][]float64) (points [][2]short) {
	for x, values := range byPlace {
		if e, ok := figure.Of(values); ok {
			points = append(points, [2]short{short(x), short(e.Median)})
		}
	}
	slices.SortFunc(points, func(a, b [2]short) int { return cmp.Compare(a[0], b[0]) })
	return points
}

// A Course is a chart of a series that samples hold: how something goes on within a sample.
type Course struct {
	Title, Chart string
}

// courses charts the series that have more than one value.
func (p *Panel) courses(page *Page) (list []Course) {
	for i, name := range p.series(func(values []float64) bool { return len(values) > 1 }) {
		title, unit, place := strings.ReplaceAll(name, "_", " "), figure.Number, "one after the other"
		if what, ok := strings.CutSuffix(name, "_seconds"); ok {
			place = strings.ReplaceAll(what, "_", " ")
			title, unit = "Time of each "+place, figure.Nanoseconds
		}
		var lines []chartLine
		var values []float64
		for _, row := range p.Rows {
			points := course(row.Samples, name, unit)
			for _, xy := range points {
				values = append(values, float64(xy[1]))
			}
			if len(points) > 1 {
				lines = append(lines, chartLine{row.Contender.ID, row.Family.Key, points})
			}
		}
		id := page.chart(fmt.Sprintf("%s-course%d", p.ID, i+1), &lineChart{
			"lines", axis{place, string(figure.Number), false}, axis{title, string(unit), logarithmic(values)}, lines,
		})
		list = append(list, Course{title, id})
	}
	return list
}

// course are the medians of a series at each of its places.
func course(samples []*result.Sample, name string, unit figure.Unit) [][2]short {
	byPlace := make(map[float64][]float64)
	for _, m := range samples {
		for i, x := range m.Series[name] {
			if unit == figure.Nanoseconds {
				x *= 1e9
			}
			if x > 0 && !math.IsInf(x, 0) {
				byPlace[float64(i+1)] = append(byPlace[float64(i+1)], x)
			}
		}
	}
	return medians(byPlace)
}
