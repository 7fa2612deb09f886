package sqlitefile

import (
	"errors"
	"fmt"
	"slices"
)

// A positionChange is what is changed when a row was read.
type positionChange struct {
	name   string
	change func(m *model, w *way, at fact, step int) error
}

// positionChanges are all changes.
func positionChanges() []positionChange {
	return slices.Concat(rowChanges(), placeChanges(), otherChanges())
}

// rowChanges change the row that was read.
func rowChanges() []positionChange {
	set := func(size func(f fact) int) func(m *model, w *way, at fact, step int) error {
		return func(m *model, _ *way, at fact, step int) error {
			f, ok := m.facts[at.id]
			if !ok {
				return nil
			}
			return m.set(f, pattern(step+1000, size(f)))
		}
	}
	moved := func(key func(f fact, step int) string) func(m *model, w *way, at fact, step int) error {
		return func(m *model, _ *way, at fact, step int) error {
			f, ok := m.facts[at.id]
			if !ok || m.news > 100 {
				return nil
			}
			m.news++
			f.k = key(f, step)
			return m.put(f)
		}
	}
	return []positionChange{
		{"none", func(*model, *way, fact, int) error { return nil }},
		{"delete", func(m *model, _ *way, at fact, _ int) error { return m.remove(&at) }},
		{"delete and insert", func(m *model, _ *way, at fact, _ int) error { return errors.Join(m.remove(&at), m.put(at)) }},
		{"set smaller", set(func(f fact) int { return len(f.body) / 3 })},
		{"set same", set(func(f fact) int { return len(f.body) })},
		{"set larger", set(func(f fact) int { return len(f.body) + 60 })},
		{"set overflowing", set(func(fact) int { return 2000 })},
		{"move ahead", moved(func(f fact, step int) string { return fmt.Sprintf("9%03d%s", step, f.k) })},
		{"move back", moved(func(f fact, step int) string { return fmt.Sprintf("0%03d%s", 999-step%1000, f.k) })},
	}
}

// placeChanges change other rows.
func placeChanges() []positionChange {
	return []positionChange{
		{"delete next", func(m *model, w *way, at fact, _ int) error { return m.remove(m.next(w, &at)) }},
		{"delete next but one", func(m *model, w *way, at fact, _ int) error {
			if f := m.next(w, &at); f != nil {
				return m.remove(m.next(w, f))
			}
			return nil
		}},
		{"delete previous", func(m *model, w *way, at fact, _ int) error {
			other := *w
			other.back = !w.back
			return m.remove(m.next(&other, &at))
		}},
		{"delete this and next", func(m *model, w *way, at fact, _ int) error {
			return errors.Join(m.remove(m.next(w, &at)), m.remove(&at))
		}},
		{"insert before", func(m *model, _ *way, at fact, _ int) error { return m.insert(at.id - 1) }},
		{"insert behind", func(m *model, _ *way, at fact, _ int) error { return m.insert(at.id + 1) }},
		{"insert far before", func(m *model, _ *way, _ fact, step int) error { return m.insert(int64(-step)) }},
		{"insert far behind", func(m *model, _ *way, _ fact, step int) error { return m.insert(int64(5000 + step)) }},
		{"insert at both ends", func(m *model, _ *way, _ fact, step int) error {
			return errors.Join(m.insert(int64(-step)), m.insert(int64(5000+step)))
		}},
		{"DeleteRange here", func(m *model, _ *way, at fact, step int) error { return m.deleteRange(at.id-5, at.id+5) }},
		{"DeleteRange ahead", func(m *model, _ *way, at fact, step int) error { return m.deleteRange(at.id+10, at.id+80) }},
		{"DeleteRange of all", func(m *model, _ *way, _ fact, step int) error {
			if step != 30 {
				return nil
			}
			return m.deleteRange(-1<<40, 1<<40)
		}},
		{"DeleteKey of a group", func(m *model, _ *way, at fact, step int) error {
			if step != 20 {
				return nil
			}
			return m.deleteGroup(at.g)
		}},
		{"delete and set, nested", nestedChange},
	}
}

// deleteRange deletes the facts with some numbers.
func (m *model) deleteRange(low, high int64) error {
	r, w, err := m.tables()
	if err != nil {
		return err
	}
	n, err := r.DeleteRange(low, high)
	for id, f := range m.facts {
		if err == nil && id >= low && id <= high {
			delete(m.facts, id)
			n--
			_, err = w.DeleteKey(f.g, f.k, f.id)
		}
	}
	if err == nil && n != 0 {
		err = fmt.Errorf("DeleteRange: %d rows too many", n)
	}
	return err
}

// deleteGroup deletes the facts of a group.
func (m *model) deleteGroup(g int64) error {
	r, w, err := m.tables()
	if err != nil {
		return err
	}
	if _, err = w.DeleteKey(g); err != nil {
		return err
	}
	for id, f := range m.facts {
		if f.g == g {
			delete(m.facts, id)
			if _, err := r.Delete(id); err != nil {
				return err
			}
		}
	}
	return nil
}

// nestedChange reads all rows backward within the loop, and changes two of them there.
func nestedChange(m *model, w *way, at fact, step int) error {
	if step%10 != 0 {
		return nil
	}
	t, err := m.tx.Rx.Table("w")
	if err != nil {
		return err
	}
	n, inner := 0, way{order: byKey, back: true, fact: rowFact}
	var last *fact
	for row, err := range t.Backward() {
		if err != nil {
			return err
		}
		want := m.next(&inner, last)
		if want == nil {
			return errors.New("within: a row too many")
		}
		if err := wantFact(&inner, &row, want); err != nil {
			return fmt.Errorf("within: %w", err)
		}
		switch last = want; n % 20 {
		case 3:
			err = m.remove(want)
		case 7:
			err = m.set(*want, pattern(step, 300))
		}
		if n++; err != nil {
			return err
		}
	}
	if m.next(&inner, last) != nil {
		return errors.New("within: a row is missing")
	}
	return nil
}

// otherChanges change other tables, and the schema.
func otherChanges() []positionChange {
	other := func(m *model) (TableWriter, error) { return m.tx.Table("o") }
	return []positionChange{
		{"insert elsewhere", func(m *model, _ *way, at fact, step int) error {
			t, err := other(m)
			if err == nil {
				_, err = t.Insert(nil, string(pattern(step, 300)))
			}
			return err
		}},
		{"change elsewhere", func(m *model, _ *way, at fact, step int) error {
			t, err := other(m)
			if err == nil {
				err = t.Put(int64(step%7), nil, string(pattern(step, step*53%900)))
			}
			if err == nil && step%9 == 8 {
				_, err = t.DeleteRange(2, 5)
			}
			return err
		}},
		{"CREATE INDEX", func(m *model, _ *way, _ fact, step int) error {
			if step%40 != 0 {
				return nil
			}
			return m.tx.Exec(fmt.Sprintf("CREATE INDEX more%d ON r (body); CREATE INDEX other%d ON w (body)", step, step))
		}},
		{"CREATE and DROP", func(m *model, _ *way, at fact, step int) error {
			err := m.remove(&at)
			switch step % 40 {
			case 0:
				err = errors.Join(err, m.tx.Exec("CREATE INDEX IF NOT EXISTS more ON r (body); CREATE TABLE IF NOT EXISTS fresh (a)"))
			case 20:
				err = errors.Join(err, m.tx.Exec("DROP INDEX IF EXISTS more; DROP TABLE IF EXISTS fresh"))
			}
			return err
		}},
	}
}
