package runner

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/foliofs/folio/lab/workload"
)

// A Statement is what the user wants to know about.
type Statement struct {
	DB       string
	SQL      string
	ArgsFrom string // a query whose rows are the arguments; "" if there are none
	Limit    int    // of these rows
}

// Check refuses what is no database before anything is built.
func (s *Statement) Check() error {
	f, err := os.Open(s.DB)
	if err != nil {
		return err
	}
	defer f.Close()
	head := make([]byte, 16)
	if _, err := io.ReadFull(f, head); err != nil || string(head) != "SQLite format 3\x00" {
		return fmt.Errorf("%s: not a SQLite database", s.DB)
	}
	if s.SQL == "" {
		return errors.New("--query is empty; it takes a SELECT")
	}
	return nil
}

// probe lets one driver answer the statement, for all arguments. What it refuses, because the statement writes, or fails, or finds nothing,
// or the database is locked, is refused before anything is measured.
func (r *run) probe(ctx context.Context) error {
	e := r.prober()
	if e == nil {
		return errors.New("no contender that takes part tells the columns of a query; take mattn, ncruces or modernc in")
	}
	s := r.o.Statement
	path, err := filepath.Abs(s.DB)
	if err != nil {
		return err
	}
	p, err := start(ctx, r.o.Timeout, e.program.path, e.program.args...)
	if err != nil {
		return err
	}
	p.tell(workload.Request{Probe: &workload.Probe{DB: path, SQL: s.SQL, ArgsFrom: s.ArgsFrom, Limit: s.Limit}})
	reply, err := p.reply()
	if err == nil && reply.Statement == nil {
		err = errors.New("it did not answer")
	}
	if err != nil {
		_ = p.end(err)
		return fmt.Errorf("%s: %w", s.DB, err)
	}
	r.asked = reply.Statement
	for _, t := range r.tasks {
		t.db = path
	}
	return p.end(nil)
}

// prober is the first of the makers that can probe, or anybody who can.
func (r *run) prober() *entrant {
	return r.first(func(e *entrant) bool { return e.about.Probes })
}

// first is the best of the makers for which ok holds, or else the first entrant; nil if there is none.
func (r *run) first(ok func(*entrant) bool) *entrant {
	for _, name := range makers {
		for _, e := range r.entrants {
			if e.record.Name == name && ok(e) {
				return e
			}
		}
	}
	for _, e := range r.entrants {
		if ok(e) {
			return e
		}
	}
	return nil
}
