package btree

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/foliofs/folio/internal/invariant"
	"github.com/foliofs/folio/internal/record"
)

// A load is a sequence of changes to a table, or to a table WITHOUT ROWID that is keyed by text,
// which ours and SQLite make alike.
type load struct {
	name   string
	keyed  bool
	change func(r *rand.Rand, i int) loadStep
}

// A loadStep is one change: a row with a BLOB of size bytes comes, goes, or gets another one.
type loadStep struct {
	op   byte // 'i', 'd' or 'u'
	key  uint64
	size int
}

var loads = []load{
	{"sequential", false, func(_ *rand.Rand, i int) loadStep { return loadStep{'i', uint64(i), 50} }},
	{"sequential", true, func(_ *rand.Rand, i int) loadStep { return loadStep{'i', uint64(i), 30} }},
	{"descending", false, func(_ *rand.Rand, i int) loadStep { return loadStep{'i', 1<<40 - uint64(i), 50} }},
	{"descending", true, func(_ *rand.Rand, i int) loadStep { return loadStep{'i', 1<<40 - uint64(i), 30} }},
	{"random", false, func(r *rand.Rand, _ int) loadStep { return loadStep{'i', uint64(r.Uint32()), 50} }},
	{"random", true, func(r *rand.Rand, _ int) loadStep { return loadStep{'i', uint64(r.Uint32()), 30} }},
	{"random sizes", false, func(r *rand.Rand, _ int) loadStep { return loadStep{'i', uint64(r.Uint32()), r.IntN(300)} }},
	{"random sizes", true, func(r *rand.Rand, _ int) loadStep { return loadStep{'i', uint64(r.Uint32()), r.IntN(300)} }},
	{"large", false, func(r *rand.Rand, _ int) loadStep { return loadStep{'i', uint64(r.Uint32()), r.IntN(6000)} }},
	{"large", true, func(r *rand.Rand, _ int) loadStep { return loadStep{'i', uint64(r.Uint32()), r.IntN(6000)} }},
	{"runs", false, runs},
	{"runs", true, runs},
	{"near the end", false, func(r *rand.Rand, i int) loadStep { return loadStep{'i', uint64(i + r.IntN(100)), 50} }},
	{"near the end", true, func(r *rand.Rand, i int) loadStep { return loadStep{'i', uint64(i + r.IntN(100)), 30} }},
	{"mixed", false, mixed},
	{"mixed", true, mixed},
	{"shrinking", false, shrinking},
	{"shrinking", true, shrinking},
	{"queue", false, queue},
	{"queue", true, queue},
	{"growing rows", false, growing},
	{"growing rows", true, growing},
}

// runs adds keys in order in 100 places.
func runs(r *rand.Rand, i int) loadStep {
	return loadStep{'i', uint64(r.IntN(100))<<32 + uint64(i), 40}
}

func mixed(r *rand.Rand, _ int) loadStep {
	return loadStep{"iiiddu"[r.IntN(6)], uint64(r.IntN(20000)), r.IntN(120)}
}

func shrinking(r *rand.Rand, i int) loadStep {
	if i < 15000 {
		return loadStep{'i', uint64(i), 60}
	}
	return loadStep{'d', uint64(r.IntN(15000)), 0}
}

func queue(_ *rand.Rand, i int) loadStep {
	if i%2 == 0 || i < 2000 {
		return loadStep{'i', uint64(i), 60}
	}
	return loadStep{'d', uint64(i - 1500), 0}
}

func growing(r *rand.Rand, i int) loadStep {
	if i < 5000 {
		return loadStep{'i', uint64(i), 10}
	}
	return loadStep{'u', uint64(r.IntN(5000)), 10 + i/100}
}

const loadSteps = 30000

func (l *load) steps() []loadStep {
	r := rand.New(rand.NewPCG(1, 2))
	steps := make([]loadStep, loadSteps)
	for i := range steps {
		steps[i] = l.change(r, i)
	}
	return steps
}

func (l *load) schema() string {
	if l.keyed {
		return "CREATE TABLE t(k TEXT PRIMARY KEY, v BLOB) WITHOUT ROWID"
	}
	return "CREATE TABLE t(k INTEGER PRIMARY KEY, v BLOB)"
}

// sqlite returns how many pages SQLite takes.
func (l *load) sqlite(t *testing.T, pageSize int) (pages int) {
	var sql strings.Builder
	fmt.Fprintf(&sql, "PRAGMA page_size=%d; PRAGMA journal_mode=OFF; PRAGMA secure_delete=OFF; %s; BEGIN;\n", pageSize, l.schema())
	for _, s := range l.steps() {
		key := fmt.Sprint(s.key)
		if l.keyed {
			key = fmt.Sprintf("'%016x'", s.key)
		}
		switch s.op {
		case 'i':
			fmt.Fprintf(&sql, "INSERT OR IGNORE INTO t VALUES(%s, zeroblob(%d));\n", key, s.size)
		case 'd':
			fmt.Fprintf(&sql, "DELETE FROM t WHERE k = %s;\n", key)
		case 'u':
			fmt.Fprintf(&sql, "UPDATE t SET v = zeroblob(%d) WHERE k = %s;\n", s.size, key)
		}
	}
	sql.WriteString("COMMIT; SELECT 'pages ' || page_count || ' ' || freelist_count FROM pragma_page_count, pragma_freelist_count;")
	var count, free int
	out := sqliteShell(t, t.TempDir()+"/fill.db", sql.String())
	if _, err := fmt.Sscanf(out[strings.LastIndex(out, "pages"):], "pages %d %d", &count, &free); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	return count - free
}

// ours returns how many pages our trees take.
func (l *load) ours(t *testing.T, pageSize int) (pages int, m *memory) {
	m = newMemory(pageSize, 0, 0)
	ws := m.workspace()
	var columns []record.KeyColumn
	if l.keyed {
		columns = make([]record.KeyColumn, 1)
	}
	tree := m.object(t, ws, "table", "t", "t", l.schema(), columns)
	for _, s := range l.steps() {
		if err := s.apply(tree, l.keyed); err != nil {
			t.Fatal(err)
		}
	}
	checkMemory(t, m, tree)
	head, _ := m.Page(1)
	return int(m.PageCount()) - int(Be32(head[FreeCountOffset:])), m
}

func (s loadStep) apply(tree *Tree, keyed bool) (err error) {
	value := make([]byte, s.size)
	key := any(int64(s.key))
	if keyed {
		key = fmt.Sprintf("%016x", s.key)
	}
	switch {
	case s.op == 'i' && keyed:
		_, err = tree.InsertKey(makeRecord(key, value), 0)
	case s.op == 'd' && keyed:
		_, err = tree.DeleteKey(makeRecord(key))
	case s.op == 'u' && keyed:
		var found bool
		if found, err = tree.SeekKey(makeRecord(key), 1); found && err == nil {
			_, err = tree.PutKey(makeRecord(key, value))
		}
	case s.op == 'i':
		_, err = tree.InsertRow(int64(s.key), makeRecord(nil, value))
	case s.op == 'd':
		_, err = tree.DeleteRow(int64(s.key))
	default:
		_, err = tree.ReplaceRow(int64(s.key), makeRecord(nil, value))
	}
	return err
}

// TestFill compares how many pages ours and SQLite take for the same loads.
func TestFill(t *testing.T) {
	t.Parallel()
	if testing.Short() || invariant.Enabled {
		t.Skip("skipped: takes long")
	}
	for _, l := range loads {
		for _, pageSize := range []int{1024, 4096} {
			t.Run(fmt.Sprintf("%s-%v-%d", l.name, l.keyed, pageSize), func(t *testing.T) {
				t.Parallel()
				ours, _ := l.ours(t, pageSize)
				theirs := l.sqlite(t, pageSize)
				t.Logf("%d pages, SQLite takes %d", ours, theirs)
				if ours > theirs+theirs/50+4 {
					t.Errorf("takes more pages")
				}
			})
		}
	}
}
