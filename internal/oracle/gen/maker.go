package gen

import (
	"fmt"
	"math/rand/v2"

	"github.com/foliofs/folio/internal/oracle/judge"
)

// A maker fills one database. The first error sticks, and everything after it is a no-op.
type maker struct {
	spec Spec
	conn *judge.Conn
	rng  *rand.Rand
	err  error
}

// header makes the settings that are possible only before the first page is written; PRAGMA
// auto_vacuum writes it.
func (m *maker) header() {
	m.exec(fmt.Sprintf("PRAGMA page_size = %d", m.spec.PageSize))
	if m.err == nil {
		m.err = m.conn.ReserveBytes(m.spec.Reserved)
	}
	m.exec(fmt.Sprintf("PRAGMA encoding = '%s'", m.spec.Encoding))
	m.exec(fmt.Sprintf("PRAGMA auto_vacuum = %d", m.spec.AutoVacuum))
}

func (m *maker) exec(query string, args ...any) {
	if m.err == nil {
		m.err = m.conn.Exec(query, args...)
	}
}

// each runs a prepared statement n times with the results of args. A row that breaks a UNIQUE
// constraint is left out if the statement says OR IGNORE.
func (m *maker) each(n int, query string, args func(i int) []any) {
	if m.err != nil {
		return
	}
	s, err := m.conn.Prepare(query)
	if err != nil {
		m.err = err
		return
	}
	defer s.Close()
	for i := range n {
		if err := s.Exec(args(i)...); err != nil {
			m.err = fmt.Errorf("%s: row %d: %w", query, i, err)
			return
		}
	}
}

// usable is the number of bytes of a page that b-trees may use.
func (m *maker) usable() int { return m.spec.PageSize - m.spec.Reserved }
