package positions

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
)

// A program is steps, of which loops have steps of their own.
type program []step

// A step is one of the kinds below.
type step struct {
	kind  kind
	table int
	tree  int   // of a loop
	back  bool  // of a loop
	where where // of a loop
	every int   // it is made in each so manieth round
	level int   // the loop around it whose current row it is about: 0 is the innermost
	delta int64 // the row that it is about, from that one on
	far   int64 // or its id, if delta is 0
	size  int64 // of a range
	name  string
	row   row // the values
	body  program
}

type kind int

const (
	loopRows kind = iota
	insertRow
	insertMany
	setColumn // row[column] is set
	replaceRow
	deleteRow
	deleteRange
	deleteAll
	keepPart // SAVEPOINT, the body, RELEASE
	takeBack // SAVEPOINT, the body, ROLLBACK TO, RELEASE
	kinds
)

// where says which rows a loop has.
type where struct {
	kind      int // 0: all; 1: low <= and < high; 2: = low; 3: >= low
	low, high int64
}

// maker makes random programs.
type maker struct {
	*rand.Rand
	tables []*table
	kept   []int // the tables whose rows get no other keys, as loops around the step need it
}

// program makes a program with at least one loop.
func (m *maker) program() program {
	p := program{m.loop(0)}
	for range m.IntN(2) {
		p = append(p, m.step(-1), m.loop(0))
	}
	return p
}

// loop makes a loop.
func (m *maker) loop(depth int) step {
	s := step{kind: loopRows, table: m.IntN(len(m.tables)), back: m.IntN(3) == 0, every: 1 + m.IntN(2)}
	if depth > 0 {
		s.every = 3 + m.IntN(20)
	}
	t := m.tables[s.table]
	s.tree = m.IntN(len(t.trees))
	first := t.trees[s.tree].terms[0]
	switch {
	case s.tree == 0 && first.column == "id" && !first.desc:
		low := m.Int64N(600)
		s.where = where{m.IntN(2), low, low + m.Int64N(600)}
	case first.column == "a" && !first.desc:
		low := m.Int64N(8)
		s.where = where{m.IntN(4), low, low + m.Int64N(6)}
	}
	if s.where.kind == 2 && t.trees[s.tree].one() { // C looks for no second row
		s.where.kind = 1
	}
	if s.where.kind == 2 { // C need not look at the direction of a column that has one value
		s.back = false
	}
	if t.keyed && t.trees[s.tree].unique { // C passes over a row that takes the unique key of the current one
		m.kept = append(m.kept, s.table)
		defer func() { m.kept = m.kept[:len(m.kept)-1] }()
	}
	for range 1 + m.IntN(3) {
		s.body = append(s.body, m.step(depth))
	}
	return s
}

// step makes a step in a loop, or in none if depth is -1.
func (m *maker) step(depth int) step {
	s := step{kind: insertRow + kind(m.IntN(int(kinds-insertRow))), table: m.IntN(len(m.tables)), every: 1 + m.IntN(4)}
	if depth >= 0 && depth < 2 && m.IntN(6) == 0 {
		return m.loop(depth + 1)
	}
	switch s.kind {
	case insertRow, insertMany, setColumn, replaceRow:
		if slices.Contains(m.kept, s.table) {
			s.kind = deleteRow
		}
	}
	if depth > 0 {
		s.level = m.IntN(depth + 1)
	}
	s.delta = choose(m.Rand, 0, 0, 1, -1, 10, -10, 20, m.Int64N(200)-100)
	if depth < 0 || s.delta == 0 && m.IntN(4) == 0 {
		s.far = m.Int64N(900)
	}
	s.size = choose[int64](m.Rand, 5, 15, 40, 300)
	s.row = randomRow(m.Rand, m.tables[s.table], 0)
	switch s.kind {
	case insertMany, deleteAll:
		s.every = 7 + m.IntN(30)
	case insertRow:
		s.delta += choose[int64](m.Rand, 0, 1, 3, -3)
	case setColumn:
		s.name = choose(m.Rand, "a", "b", "c")
	case keepPart, takeBack:
		for range 1 + m.IntN(3) {
			s.body = append(s.body, m.step(max(depth, 1)))
			s.body[len(s.body)-1].every = 1
		}
	}
	return s
}

// String returns the program for a person.
func (p program) String() string {
	var b strings.Builder
	p.write(&b, "")
	return b.String()
}

func (p program) write(b *strings.Builder, indent string) {
	for _, s := range p {
		var values []string
		for _, v := range s.row {
			values = append(values, fmt.Sprintf("%.20q", fmt.Sprint(v)))
		}
		names := [...]string{"loop", "insert", "insert many", "set", "replace", "delete", "delete range", "delete all", "keep", "take back"}
		fmt.Fprintf(b, "%s%s table %d tree %d back %v where %v every %d level %d delta %d far %d size %d %s %v\n",
			indent, names[s.kind], s.table, s.tree, s.back, s.where, s.every, s.level, s.delta, s.far, s.size, s.name, values)
		s.body.write(b, indent+"    ")
	}
}
