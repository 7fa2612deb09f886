package exec

import (
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/foliofs/folio/internal/sql/bind"
	"github.com/foliofs/folio/internal/sql/catalog"
	"github.com/foliofs/folio/internal/sql/program"
)

// A logEst is ten times the binary logarithm of a number, as SQLite's planner counts.
type logEst int

func estimate(n float64) logEst { return logEst(math.Round(10 * math.Log2(n))) }

// plus adds the numbers.
func (a logEst) plus(b logEst) logEst {
	if a < b {
		a, b = b, a
	}
	if a > b+49 {
		return a
	}
	return a + logEst(math.Round(10*math.Log2(1+math.Exp2(float64(b-a)/10))))
}

const rowsOfTable logEst = 200 // without statistics

// adjust lowers the number of rows by the conditions that the step does not look up.
func (p *planner) adjust(st *step, done uint64) {
	self := uint64(1) << st.source.Index
	reduce, out := logEst(0), st.out
	full := p.rows(st.source)
	if len(st.equal) > 0 || st.low != nil || st.high != nil || st.hash != nil {
		full = st.out
	}
	for _, e := range p.where {
		uses := e.Uses(p.core)
		if uses&self == 0 || uses&^(done|self) != 0 || slices.Contains(st.covered, e) {
			continue
		}
		out--
		if e.Kind == bind.Compare && e.Op == program.Equal {
			k := logEst(20)
			for _, a := range e.Args {
				if a.Kind == bind.Literal && a.Value.Kind() == 1 && a.Value.Int() >= -1 && a.Value.Int() <= 1 {
					k = 10
				}
			}
			reduce = max(reduce, k)
		}
	}
	st.out = min(out, full-reduce)
}

// rows estimates how many rows a source has.
func (p *planner) rows(s *bind.Source) logEst {
	if n, ok := p.estimates[s.Query]; ok {
		return n
	}
	return rowsOfTable
}

// log is the binary logarithm of a number.
func (a logEst) log() logEst {
	if a <= 10 {
		return 0
	}
	return estimate(float64(a)) - 33
}

// tableWidth guesses the size of a row from the declared types.
func tableWidth(t *catalog.Table) logEst {
	sum := 0
	if t.Alias < 0 {
		sum++
	}
	for i := range t.Columns {
		sum += columnWidth(&t.Columns[i])
	}
	return estimate(float64(max(sum, 1) * 4))
}

func widthOf(t *catalog.Table, terms []catalog.Term) logEst {
	sum := 0
	for _, term := range terms {
		if term.Column < 0 {
			sum++
		} else {
			sum += columnWidth(&t.Columns[term.Column])
		}
	}
	return estimate(float64(sum * 4))
}

func columnWidth(c *catalog.Column) int {
	if c.Affinity.Numeric() || c.Type == "" {
		return 1
	}
	size := 16
	if i := strings.IndexByte(c.Type, '('); i >= 0 {
		digits := strings.TrimLeft(c.Type[i+1:], " ")
		n := 0
		for n < len(digits) && digits[n] >= '0' && digits[n] <= '9' {
			n++
		}
		size, _ = strconv.Atoi(digits[:n])
	}
	return min(size/4+1, 255)
}
