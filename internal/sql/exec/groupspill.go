package exec

import (
	"slices"

	"github.com/foliofs/folio/internal/record"
	"github.com/foliofs/folio/internal/sql/value"
)

// spilled holds the rows of groups for which there is no memory. They are sorted, and their groups
// are made one after the other, between the groups in memory.
//
// A row in the spill has the arguments of each aggregate with its filter, and the columns that are
// saved.
type spilled struct {
	spill    *spill
	row      []record.Value // the next one, behind its key; nil at the end
	group    group
	distinct distinct // of it
}

// wait puts the current row into the spill. The values of its keys are in args.
func (g *groups) wait() error {
	if g.spill == nil {
		var order record.Order
		for _, c := range g.orders {
			order = append(order, keyColumn(c, false))
		}
		g.spill = g.m.newSpill(order)
	}
	key := slices.Clone(g.args)
	var row []record.Value
	for i := range g.aggregates {
		n := g.arguments(i)
		row = append(row, make([]record.Value, n)...)
		of := row[len(row)-n:]
		for k := n - 1; k >= 0; k-- { // the filter first: where it is not true, no argument is evaluated
			v, err := g.argument(i, k)
			if err != nil {
				return err
			}
			if of[k] = v; k == len(g.aggregates[i].args) && !value.True(v) {
				break
			}
		}
	}
	for i := range g.sources {
		for k := range g.sources[i].columns {
			v, err := g.column(i, k)
			if err != nil {
				return err
			}
			row = append(row, v)
		}
	}
	return g.spill.add(key, row)
}

// arguments returns how many values of an aggregate a row in the spill has.
func (g *groups) arguments(i int) int {
	n := len(g.aggregates[i].args)
	if g.aggregates[i].filter != nil {
		n++
	}
	return n
}

func (g *groups) sortSpilled() error {
	if g.spill == nil {
		return nil
	}
	if err := g.spill.sort(); err != nil {
		return err
	}
	return g.advance()
}

func (g *groups) advance() (err error) {
	g.row, err = g.spill.next()
	return err
}

// nextGroup returns the next group, or nil.
func (g *groups) nextGroup() (*group, error) {
	var x *group
	if g.at < len(g.list) {
		x = &g.list[g.at]
	}
	if g.row != nil && (x == nil || compareRows(g.row, x.key, g.orders) < 0) {
		return g.spilledGroup()
	}
	if x != nil {
		g.at++
	}
	return x, nil
}

// spilledGroup makes the group of the next rows in the spill.
func (g *groups) spilledGroup() (*group, error) {
	key := g.row[:len(g.keys)]
	g.group = g.newGroup(key)
	g.group.seen = &g.spilled.distinct
	g.spilled.distinct.reset()
	for first := true; g.row != nil && compareRows(g.row, key, g.orders) == 0; first = false {
		if err := g.m.alive(); err != nil {
			return nil, err
		}
		row := g.row[g.spill.width:]
		take := func(int, int) (v record.Value, err error) {
			v, row = row[0], row[1:]
			return v, nil
		}
		arguments := make([][]record.Value, len(g.aggregates))
		for i := range arguments {
			arguments[i], row = row[:g.arguments(i)], row[g.arguments(i):]
		}
		if err := g.addTo(&g.group, first, &groupRow{func(i, k int) (record.Value, error) { return arguments[i][k], nil }, take}); err != nil {
			return nil, err
		}
		if err := g.advance(); err != nil {
			return nil, err
		}
	}
	return &g.group, g.addLater(&g.spilled.distinct, func(int64) *group { return &g.group })
}
