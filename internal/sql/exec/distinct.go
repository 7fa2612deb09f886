package exec

import (
	"github.com/foliofs/folio/internal/record"
)

// A distinct finds out which rows are the first with their key, in bounded memory: those of SELECT
// DISTINCT, and the arguments of an aggregate with DISTINCT.
//
// It keeps the keys that it has seen while there is memory for them. Of the rows after that, those
// with a key that it keeps are known not to be the first. The others go to a spill, sorted by their
// keys, and the first one of each key is found in the end. They come later than all rows that
// were known to be the first, so that the order of the rows stays the one in which they came.
type distinct struct {
	m      *machine
	part   int // of the memory of the machine is for the keys: 8 for an eighth
	keys   map[string]struct{}
	memory int    // bytes of keys
	later  *spill // nil while there is memory
}

// memoryOfKey is about the memory that a key takes in the map besides its bytes.
const memoryOfKey = 96

func (d *distinct) reset() {
	d.m.drop(d.later)
	d.keys, d.memory, d.later = make(map[string]struct{}), 0, nil
}

// take reports whether the row is the first with the key. If that is not known yet, it keeps the
// row for first, and returns false.
func (d *distinct) take(key []byte, row []record.Value) (bool, error) {
	again, kept := d.keep(key)
	if again || kept {
		return kept, nil
	}
	if d.later == nil {
		d.later = d.m.newSpill(record.Order{record.KeyColumn{}})
	}
	return false, d.later.add([]record.Value{record.OfBlob(key)}, row)
}

// keep reports whether the key was kept before, and otherwise keeps it if there is memory.
func (d *distinct) keep(key []byte) (again, kept bool) {
	if _, ok := d.keys[string(key)]; ok {
		return true, false
	}
	if d.memory > d.m.limit()/d.part {
		return false, false
	}
	d.keys[string(key)] = struct{}{}
	d.memory += len(key) + memoryOfKey
	return false, true
}

// first returns the rows that were kept and are the first with their keys, in the order in which
// they came. It is nil if there are none.
func (d *distinct) first() (*spill, error) {
	if d.later == nil {
		return nil, nil
	}
	if err := d.later.sort(); err != nil {
		return nil, err
	}
	ordered := d.m.newSpill(record.Order{record.KeyColumn{}})
	last, any := "", false
	for {
		row, err := d.later.next()
		if err != nil {
			return nil, err
		}
		if row == nil {
			break
		}
		if err := d.m.alive(); err != nil {
			return nil, err
		}
		if key := row[0].Bytes(); !any || string(key) != last {
			last, any = string(key), true
			if err := ordered.add(row[1:2], row[d.later.width:]); err != nil {
				return nil, err
			}
		}
	}
	d.m.drop(d.later)
	d.later = nil
	return ordered, ordered.sort()
}
