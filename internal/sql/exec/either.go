package exec

// An eitherLookup reads the rows that any of several lookups finds, each row once.
type eitherLookup struct {
	t       *table
	lookups []lookup
	at      int
	opened  bool
	seen    map[int64]struct{} // rowids
}

// A lookup is an access with a row of its own.
type lookup struct {
	access
	t *table
}

func (a *eitherLookup) open(*machine) error {
	a.at, a.opened, a.seen = 0, false, make(map[int64]struct{})
	return nil
}

func (a *eitherLookup) exact() bool { return false }

func (a *eitherLookup) next(m *machine) (bool, error) {
	for a.at < len(a.lookups) {
		l := &a.lookups[a.at]
		if !a.opened {
			if err := l.open(m); err != nil {
				return false, err
			}
			a.opened = true
		}
		ok, err := l.next(m)
		if err != nil {
			return false, err
		}
		if !ok {
			a.at++
			a.opened = false
			continue
		}
		if ok, err := a.take(l.t); ok || err != nil {
			return ok, err
		}
	}
	return false, nil
}

// take makes the row that a lookup has found the current one, unless it was before.
func (a *eitherLookup) take(t *table) (bool, error) {
	rowid := t.row.Rowid()
	if t.fields != nil {
		rowid = t.entry.Rowid()
	}
	if _, again := a.seen[rowid]; again {
		return false, nil
	}
	a.seen[rowid] = struct{}{}
	if t.fields == nil {
		a.t.row = t.row
		return true, nil
	}
	if !t.loaded {
		if err := t.load(); err != nil {
			return false, err
		}
	}
	a.t.row = t.row
	return true, nil
}
