package main

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"modernc.org/sqlite"

	"github.com/foliofs/folio/internal/oracle/judge"
	"github.com/foliofs/folio/internal/oracle/mixed/bank"
	"github.com/foliofs/folio/sqlitefile"
)

// A checker looks at the whole database in one snapshot: its soundness, and the number of each
// writer.
type checker struct {
	name string
	look func(path string) (problems []string, numbers []int64, err error)
	busy func(err error) bool
}

var checkers = []checker{
	{"mattn", lookMattn, func(err error) bool { return busy(judge.Extended(err)) }},
	{"folio", lookFolio, func(err error) bool { return errors.Is(err, sqlitefile.ErrBusy) }},
	{"modernc", lookModernc, func(err error) bool {
		e, ok := errors.AsType[*sqlite.Error](err)
		return ok && busy(e.Code())
	}},
}

// busy reports whether a result code of SQLite says that another connection was in the way.
func busy(code int) bool {
	const busy, protocol = 5, 15
	return code&0xff == busy || code&0xff == protocol
}

// check checks the database every second, with one checker after the other, until the run is over.
func (r *ring) check(ctx context.Context, cancel context.CancelCauseFunc) {
	tick := time.NewTicker(time.Second)
	defer tick.Stop()
	for i := 0; ; i++ {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
			if err := r.checkBy(&checkers[i%len(checkers)]); err != nil {
				cancel(err)
				return
			}
		}
	}
}

// finish checks the database after all members have ended.
func (r *ring) finish() error {
	for i := range checkers {
		if err := r.checkBy(&checkers[i]); err != nil {
			return err
		}
	}
	return nil
}

// checkBy lets one checker look. Transactions that were acknowledged before it began must be there.
func (r *ring) checkBy(c *checker) error {
	floors := make([]int64, len(r.acked))
	for w := range floors {
		floors[w] = r.acked[w].Load()
	}
	problems, numbers, err := c.look(r.path)
	switch {
	case err != nil && c.busy(err):
		r.counts.checks.add("busy", 1)
		return nil
	case err != nil:
		return fmt.Errorf("check by %s: %w", c.name, err)
	case len(problems) > 0:
		return fmt.Errorf("check by %s: %q", c.name, problems)
	case len(numbers) != len(floors):
		return fmt.Errorf("check by %s: %d writers", c.name, len(numbers))
	}
	for w, floor := range floors {
		if numbers[w] < floor {
			return fmt.Errorf("check by %s: writer %d is at %d, but %d was acknowledged", c.name, w, numbers[w], floor)
		}
	}
	r.counts.checks.add(c.name, 1)
	return nil
}

func lookMattn(path string) (problems []string, numbers []int64, err error) {
	ctx := context.Background()
	c, err := judge.Open("file:" + path + "?_busy_timeout=10000")
	if err != nil {
		return nil, nil, err
	}
	defer func() { err = errors.Join(err, c.Close()) }()
	if err := c.Exec("BEGIN"); err != nil {
		return nil, nil, err
	}
	if problems, err = c.Strings(ctx, "PRAGMA integrity_check"); err != nil {
		return nil, nil, err
	}
	for row, err := range c.Rows(ctx, "SELECT seq FROM writer ORDER BY id") {
		if err != nil {
			return nil, nil, err
		}
		numbers = append(numbers, row[0].(int64))
	}
	return sound(problems), numbers, c.Exec("COMMIT")
}

// sound is nothing if an integrity_check found nothing.
func sound(problems []string) []string {
	if len(problems) == 1 && problems[0] == "ok" {
		return nil
	}
	return problems
}

func lookModernc(path string) (problems []string, numbers []int64, err error) {
	db, err := sql.Open("sqlite", "file:"+path+"?_pragma=busy_timeout(10000)")
	if err != nil {
		return nil, nil, err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	tx, err := db.Begin()
	if err != nil {
		return nil, nil, err
	}
	defer func() { _ = tx.Rollback() }() // nothing is changed
	if err := column(tx, "PRAGMA integrity_check", &problems); err != nil {
		return nil, nil, err
	}
	return sound(problems), numbers, column(tx, "SELECT seq FROM writer ORDER BY id", &numbers)
}

// column reads the first column of a query.
func column[T any](tx *sql.Tx, query string, dest *[]T) error {
	rows, err := tx.Query(query)
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		var v T
		if err := rows.Scan(&v); err != nil {
			return err
		}
		*dest = append(*dest, v)
	}
	return rows.Err()
}

func lookFolio(path string) (problems []string, numbers []int64, err error) {
	db, err := sqlitefile.Open(path, &sqlitefile.Options{BusyTimeout: 10 * time.Second})
	if err != nil {
		return nil, nil, err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	err = db.View(context.Background(), func(rx *sqlitefile.Rx) error {
		report, err := rx.Check(context.Background(), nil)
		if err != nil {
			return err
		}
		for _, p := range report.Problems {
			problems = append(problems, p.String())
		}
		var sum int64
		if sum, numbers, err = read(rx); err == nil && sum != bank.Total {
			problems = append(problems, fmt.Sprintf("the balances add up to %d", sum))
		}
		return err
	})
	return problems, numbers, err
}

// read returns the sum of the balances and the number of each writer.
func read(rx *sqlitefile.Rx) (sum int64, numbers []int64, err error) {
	accounts, err := rx.Table("account")
	if err != nil {
		return 0, nil, err
	}
	for row, err := range accounts.All() {
		if err != nil {
			return 0, nil, err
		}
		n, err := row.Int64(1)
		if err != nil {
			return 0, nil, err
		}
		sum += n
	}
	writers, err := rx.Table("writer")
	if err != nil {
		return 0, nil, err
	}
	for row, err := range writers.All() {
		if err != nil {
			return 0, nil, err
		}
		n, err := row.Int64(1)
		if err != nil {
			return 0, nil, err
		}
		numbers = append(numbers, n)
	}
	return sum, numbers, nil
}
