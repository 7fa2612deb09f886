package sqlitefile

import (
	"fmt"
	"maps"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/foliofs/folio/internal/ddl"
)

// An Object is one row of sqlite_schema.
type Object struct {
	Type  string // "table", "index", "view" or "trigger"
	Name  string
	Table string // the table that an index or a trigger belongs to; else the name itself
	Root  uint32 // root page; 0 for what has none
	SQL   string // the statement that made it; "" for the index of a constraint
}

// A schema holds what is known of the tables and indexes of the snapshots that share a schema cookie. It is read when somebody first
// asks, and each statement is parsed when its table or index is first used.
//
// Lookups of what is known take no lock: the maps are replaced, never changed.
type schema struct {
	cookie  uint32
	tables  atomic.Pointer[map[string]*tableDef]
	indexes atomic.Pointer[map[string]*indexDef]

	mu      sync.Mutex // guards what follows, and replacing the maps
	objects []Object
	loaded  bool
}

// newSchema returns the schema of s: the old one if nobody changed it.
func newSchema(s, old *snapshot) *schema {
	if old != nil && old.header.SchemaCookie == s.header.SchemaCookie && old.header.Encoding == s.header.Encoding {
		return old.schema
	}
	c := &schema{cookie: s.header.SchemaCookie}
	c.tables.Store(&map[string]*tableDef{})
	c.indexes.Store(&map[string]*indexDef{})
	return c
}

// Objects returns all rows of sqlite_schema in the order in which they stand there.
func (rx *Rx) Objects() ([]Object, error) {
	c := rx.schema
	c.mu.Lock()
	defer c.mu.Unlock()
	err := c.load(rx)
	return append([]Object(nil), c.objects...), err
}

// load reads sqlite_schema. The caller holds mu.
func (c *schema) load(rx *Rx) error {
	if c.loaded {
		return nil
	}
	var objects []Object
	for row, err := range (Table{rx, &schemaTable}).All() {
		if err != nil {
			return err
		}
		var o Object
		if err := row.Scan(&o.Type, &o.Name, &o.Table, &o.Root, &o.SQL); err != nil {
			return err
		}
		objects = append(objects, o)
	}
	c.objects, c.loaded = objects, true
	return nil
}

// Table returns the table with the given name, in any case of letters. The error matches ErrNoTable or, for a virtual table
// and for a statement that is beyond this package, ErrUnsupported.
func (rx *Rx) Table(name string) (Table, error) {
	if def := (*rx.schema.tables.Load())[name]; def != nil {
		return Table{rx, def}, nil
	}
	def, err := rx.schema.defineTable(rx, name)
	return Table{rx, def}, err
}

// Index returns the index with the given name, in any case of letters; the index of a constraint is called
// sqlite_autoindex_TABLE_N. The error matches ErrNoIndex or ErrUnsupported.
func (rx *Rx) Index(name string) (Index, error) {
	if def := (*rx.schema.indexes.Load())[name]; def != nil {
		return Index{rx, def}, nil
	}
	def, err := rx.schema.defineIndex(rx, name)
	return Index{rx, def}, err
}

func (c *schema) defineTable(rx *Rx, name string) (*tableDef, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if ddl.EqualFold(name, "sqlite_schema") || ddl.EqualFold(name, "sqlite_master") {
		return &schemaTable, nil
	}
	o, err := c.object(rx, "table", name, ErrNoTable)
	if err != nil {
		return nil, err
	}
	def, err := rx.newTableDef(o)
	if err != nil {
		return nil, rx.db.pathError("table", err)
	}
	addTo(&c.tables, name, def)
	return def, nil
}

func (c *schema) defineIndex(rx *Rx, name string) (*indexDef, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	o, err := c.object(rx, "index", name, ErrNoIndex)
	if err != nil {
		return nil, err
	}
	t, err := c.object(rx, "table", o.Table, ErrNoTable)
	if err != nil {
		return nil, err
	}
	def, err := rx.newIndexDef(o, t)
	if err != nil {
		return nil, rx.db.pathError("index", err)
	}
	addTo(&c.indexes, name, def)
	return def, nil
}

// addTo replaces the map at p by one that also has def under name.
func addTo[T any](p *atomic.Pointer[map[string]T], name string, def T) {
	m := maps.Clone(*p.Load())
	m[strings.Clone(name)] = def
	p.Store(&m)
}

// object finds a row of sqlite_schema. The caller holds mu.
func (c *schema) object(rx *Rx, typ, name string, missing error) (o Object, err error) {
	if err := c.load(rx); err != nil {
		return o, err
	}
	for _, o := range c.objects {
		if o.Type == typ && ddl.EqualFold(o.Name, name) {
			return o, nil
		}
	}
	return o, rx.db.pathError(typ, fmt.Errorf("%w: %s", missing, name))
}
