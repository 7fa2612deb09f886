package queries

import (
	"cmp"
	"context"
	"crypto/md5"
	"encoding/hex"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/foliofs/folio/internal/oracle/judge"
	"github.com/foliofs/folio/internal/record"
	"github.com/foliofs/folio/internal/sql/function"
	"github.com/foliofs/folio/sqlite"
	"github.com/foliofs/folio/sqlitefile"
)

var (
	scripts = flag.String("queries.scripts", "", "a directory with scripts of sqllogictest")
	each    = flag.Int("queries.each", 1, "run each such script only")
	plans   = flag.Bool("queries.plans", false, "compare their plans with those of C SQLite, too")
	wrongs  = flag.Int("queries.wrongs", 20, "stop after so many wrong answers")
)

// A tally counts the queries of scripts.
type tally struct {
	mu      sync.Mutex
	scripts int
	run     int
	passed  int
	refused map[string]int
	sample  map[string]string
	wrong   int
	slow    map[string]time.Duration
	plans   *planTally // nil unless they are compared
}

// TestLogictest runs scripts of sqllogictest.
func TestLogictest(t *testing.T) {
	switch {
	case *scripts == "":
		t.Skip("no -queries.scripts")
	case !judge.Available:
		t.Skip("needs cgo")
	}
	var names []string
	err := filepath.WalkDir(*scripts, func(name string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() && strings.HasSuffix(name, ".test") {
			names = append(names, name)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	c := &tally{refused: make(map[string]int), sample: make(map[string]string), slow: make(map[string]time.Duration)}
	if *plans {
		c.plans = newPlanTally()
	}
	work := make(chan string)
	var workers sync.WaitGroup
	for range 2 {
		workers.Go(func() {
			for name := range work {
				c.script(t, name)
			}
		})
	}
	for i, name := range names {
		if i%*each == 0 {
			work <- name
		}
	}
	close(work)
	workers.Wait()
	t.Logf("%d scripts: %d queries, %d right, %d wrong, %d refused", c.scripts, c.run, c.passed, c.wrong, c.run-c.passed-c.wrong)
	for _, why := range slices.SortedFunc(maps.Keys(c.refused), func(a, b string) int { return c.refused[b] - c.refused[a] })[:min(40, len(c.refused))] {
		t.Logf("%8d %s: %.300s", c.refused[why], why, c.sample[why])
	}
	if c.plans != nil {
		c.plans.report(t)
	}
	slow := slices.SortedFunc(maps.Keys(c.slow), func(a, b string) int { return cmp.Compare(c.slow[b], c.slow[a]) })
	for _, name := range slow[:min(5, len(slow))] {
		t.Logf("%v %s", c.slow[name], name)
	}
}

// script runs one script.
func (c *tally) script(t *testing.T, name string) {
	text, err := os.ReadFile(name)
	if err != nil {
		t.Error(err)
		return
	}
	start := time.Now()
	dir := t.TempDir()
	file := filepath.Join(dir, fmt.Sprintf("%x.db", md5.Sum([]byte(name))))
	theirs, err := judge.Open(file)
	if err == nil {
		err = theirs.Exec("PRAGMA synchronous=OFF; PRAGMA journal_mode=MEMORY; CREATE TABLE a_first(x); DROP TABLE a_first")
	}
	if err != nil {
		t.Error(err)
		return
	}
	defer os.Remove(file)
	defer theirs.Close()
	ours, err := sqlite.Open(file, nil)
	if err != nil {
		t.Error(err)
		return
	}
	defer ours.Close()
	for _, r := range records(string(text)) {
		switch {
		case c.wrong > *wrongs:
			return
		case r.query:
			c.query(t, name, ours, &r)
			if c.plans != nil {
				c.plans.compare(ours, theirs, r.sql)
			}
		default:
			if err := theirs.Exec(r.sql); err != nil && !r.fails {
				t.Logf("%s: %v", name, err)
			}
		}
	}
	c.mu.Lock()
	c.scripts++
	c.slow[name] = time.Since(start)
	c.mu.Unlock()
}

// query runs one query and looks at its result.
func (c *tally) query(t *testing.T, script string, db *sqlite.DB, r *testRecord) {
	got, err := answer(db, r)
	c.mu.Lock()
	defer c.mu.Unlock()
	c.run++
	if err != nil {
		var e *sqlite.Error
		if len(r.result) == 0 && err.Error() == "integer overflow" { // the scripts expect no rows then
			c.passed++
			return
		}
		if !errors.As(err, &e) || !strings.HasPrefix(e.Message, "not supported yet") {
			c.wrong++
			t.Errorf("%s: %s: %v", script, r.sql, err)
			return
		}
		c.refused[e.Message]++
		c.sample[e.Message] = r.sql
		return
	}
	if r.right(got) {
		c.passed++
		return
	}
	c.wrong++
	t.Errorf("%s: %s\ngot %d values: %.300q\nwant %.300q", script, r.sql, len(got), got, r.result)
}

// answer returns the values of a query as sqllogictest prints them.
func answer(db *sqlite.DB, r *testRecord) ([]string, error) {
	ctx, cancel := context.WithTimeout(context.Background(), 60*time.Second)
	defer cancel()
	var rows [][]string
	for row, err := range db.Query(ctx, r.sql) {
		if err != nil {
			return nil, err
		}
		line := make([]string, row.Len())
		for i := range line {
			line[i] = printed(row, i, r.types[min(i, len(r.types)-1)])
		}
		rows = append(rows, line)
	}
	if r.sort == "rowsort" {
		slices.SortFunc(rows, slices.Compare[[]string])
	}
	all := slices.Concat(rows...)
	if r.sort == "valuesort" {
		slices.Sort(all)
	}
	return all, nil
}

func printed(row *sqlite.Row, i int, kind byte) string {
	if row.Kind(i) == sqlitefile.KindNull {
		return "NULL"
	}
	switch kind {
	case 'I':
		return fmt.Sprint(row.Int64(i))
	case 'R':
		return formatted(row.Float64(i))
	}
	text := []byte(row.Text(i))
	if len(text) == 0 {
		return "(empty)"
	}
	for k, b := range text {
		if b < ' ' || b > '~' {
			text[k] = '@'
		}
	}
	return string(text)
}

// formatted prints a float as SQLite's printf does, with at most 16 digits.
func formatted(f float64) string {
	format, _ := function.Find("format")
	v, _ := format.Call([]record.Value{record.OfText([]byte("%.3f")), record.OfFloat(f)})
	return v.Text()
}

// A testRecord is a statement or a query of a script.
type testRecord struct {
	query  bool
	fails  bool // the statement must
	types  string
	sort   string
	sql    string
	result []string // values, or one line with their number and hash
}

// right reports whether the values are those that the script wants.
func (r *testRecord) right(values []string) bool {
	if len(r.result) == 1 && strings.Contains(r.result[0], " values hashing to ") {
		h := md5.New()
		for _, v := range values {
			h.Write([]byte(v + "\n"))
		}
		return r.result[0] == fmt.Sprintf("%d values hashing to %s", len(values), hex.EncodeToString(h.Sum(nil)))
	}
	return slices.Equal(values, r.result)
}

// records returns the records of a script for SQLite. A record begins with "statement" or "query"
// and ends with an empty line.
func records(script string) (all []testRecord) {
	for _, part := range strings.Split(strings.ReplaceAll(script, "\r\n", "\n"), "\n\n") {
		lines := strings.Split(strings.Trim(part, "\n"), "\n")
		skip := false
		for len(lines) > 0 && !strings.HasPrefix(lines[0], "statement ") && !strings.HasPrefix(lines[0], "query ") {
			word := strings.Fields(lines[0])
			switch {
			case len(word) > 1 && word[0] == "skipif" && word[1] == "sqlite":
				skip = true
			case len(word) > 1 && word[0] == "onlyif" && word[1] != "sqlite":
				skip = true
			case len(word) > 0 && word[0] == "halt":
				if !skip {
					return all
				}
			}
			lines = lines[1:]
		}
		if len(lines) < 2 || skip {
			continue
		}
		word := strings.Fields(lines[0])
		r := testRecord{query: word[0] == "query", fails: len(word) > 1 && word[1] == "error"}
		end := slices.Index(lines, "----")
		if end < 0 {
			end = len(lines)
		} else {
			r.result = lines[end+1:]
		}
		r.sql = strings.Join(lines[1:end], "\n")
		if r.query {
			r.types = word[1]
			if len(word) > 2 {
				r.sort = word[2]
			}
		}
		all = append(all, r)
	}
	return all
}
