package recovery

import (
	"fmt"
	"math/rand/v2"
	"strings"
)

// A setting is a database, and how a writer uses it.
type setting struct {
	Path       string
	Engine     string // "c" or "ours"
	Mode       string // as PRAGMA journal_mode has it
	Sync       int    // as PRAGMA synchronous has it
	PageSize   int
	AutoVacuum int
	Create     bool // begin without a file
	Seed       uint64
	Steps      int
	Attached   []string // modes of several databases; Path is the directory above theirs
}

func (s *setting) String() string {
	name := fmt.Sprintf("%s %s sync=%d page=%d vacuum=%d", s.Engine, s.Mode, s.Sync, s.PageSize, s.AutoVacuum)
	if s.Create {
		name += " create"
	}
	return fmt.Sprintf("%s seed=%d", name, s.Seed)
}

// modes are the journal modes that a writer may switch to.
var modes = [...]string{"DELETE", "TRUNCATE", "PERSIST", "WAL"}

const schema = `
CREATE TABLE mark (id INTEGER PRIMARY KEY, version INT NOT NULL);
CREATE TABLE item (id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE, size INT, body BLOB);
CREATE INDEX item_size ON item (size, name DESC);
CREATE TABLE word (lang TEXT, word TEXT, n INT, PRIMARY KEY (lang, word)) WITHOUT ROWID;
`

// A step is one action of a writer. The steps of one seed do the same to any database, with any
// engine.
type step struct {
	kind    kind
	version int64 // after it
	changes []change
	mode    int // of a checkpoint, or of the journal
}

type kind int

const (
	commit kind = iota
	rollback
	create // the schema, as version 0
	createScratch
	dropScratch
	checkpoint
	vacuum     // some free pages away
	compact    // all of them away
	switchMode // another journal mode
	reopen
)

// A change is a change of one row or some.
type change struct {
	kind changeKind
	id   int64
	name string
	size int64
	body []byte
}

type changeKind int

const (
	putItem changeKind = iota
	deleteItem
	deleteItems // five ids
	putWord
	deleteWord
)

// steps returns the actions of a writer. It has the transactions that make a version, and further
// ones.
func (s *setting) steps() []step {
	rng := rand.New(rand.NewPCG(s.Seed, 0))
	all := []step{{kind: create}}
	scratch := false
	version := int64(0)
	for range s.Steps {
		next := step{kind: commit}
		switch rng.IntN(18) {
		case 0:
			next.kind = rollback
		case 1, 2:
			next.kind, next.mode = checkpoint, rng.IntN(4)
		case 3:
			next.kind = reopen
		case 4:
			next.kind = vacuum
		case 5:
			next.kind = createScratch
			if scratch {
				next.kind = dropScratch
			}
			scratch = !scratch
		case 6:
			next.kind = compact
		case 7:
			next.kind, next.mode = switchMode, rng.IntN(len(modes))
		}
		if next.kind != rollback && next.kind.transaction() {
			version++
		}
		next.version = version
		if next.kind == commit || next.kind == rollback {
			next.changes = changes(rng, version)
		}
		all = append(all, next)
	}
	return all
}

// transaction tells whether a step makes a version, or would have.
func (k kind) transaction() bool { return k <= dropScratch && k != create }

// changes returns those of one transaction, which is large sometimes.
func changes(rng *rand.Rand, version int64) (all []change) {
	n := 1 + rng.IntN(4)
	if rng.IntN(4) == 0 {
		n = 30
	}
	for range n {
		c := change{kind: putItem, id: rng.Int64N(60), size: rng.Int64N(100)}
		c.name = fmt.Sprintf("item %d of %d", c.id, version)
		switch rng.IntN(9) {
		case 0:
			c.kind = deleteItem
		case 1:
			c.kind = deleteItems
		case 2:
			c.kind, c.size = putWord, version
		case 3:
			c.kind = deleteWord
		default:
			c.body = []byte(strings.Repeat("x", bodySize(rng)))
		}
		all = append(all, c)
	}
	return all
}

// bodySize is small mostly, and sometimes takes overflow pages.
func bodySize(rng *rand.Rand) int {
	if rng.IntN(5) == 0 {
		return rng.IntN(5000)
	}
	return rng.IntN(120)
}
