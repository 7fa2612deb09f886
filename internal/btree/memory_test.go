package btree

import (
	"encoding/binary"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/foliofs/folio/internal/dberr"
	"github.com/foliofs/folio/internal/format"
	"github.com/foliofs/folio/internal/record"
)

// memory is a database in memory: a pageStore with no transaction behind it.
type memory struct {
	Freelist
	header format.Header
	pages  [][]byte // whole pages; nil where one was never made
	schema *Tree    // made by object
	age    uint64
	change int   // counted by who wants to know writes
	writes int   // pages made writable, each once in a change
	wrote  []int // the last change of each page
}

func newMemory(pageSize, reserved, autoVacuum int) *memory {
	m := &memory{header: format.Header{
		PageSize: pageSize, Reserved: reserved, WriteVersion: format.VersionRollback, ReadVersion: format.VersionRollback,
		SchemaFormat: 4, Encoding: format.UTF8, ChangeCounter: 1, VersionValidFor: 1, WriterVersion: 3_053_000,
		Incremental: autoVacuum == 2,
	}}
	if autoVacuum > 0 {
		m.header.LargestRoot = 1
	}
	m.Freelist = NewFreelist(m, &m.header)
	m.pages = [][]byte{make([]byte, pageSize)}
	m.header.Put(m.pages[0])
	InitNode(m.pages[0][:m.usable], 1, format.LeafTable, 0)
	return m
}

func (m *memory) Page(pgno uint32) ([]byte, error) {
	if uint64(pgno)-1 >= uint64(len(m.pages)) || m.pages[pgno-1] == nil {
		return nil, m.Corrupt(pgno, "no such page")
	}
	return m.pages[pgno-1][:m.usable:m.usable], nil
}

func (m *memory) Writable(pgno uint32) ([]byte, error) {
	for len(m.wrote) < len(m.pages) {
		m.wrote = append(m.wrote, 0)
	}
	if uint64(pgno)-1 < uint64(len(m.wrote)) && m.wrote[pgno-1] != m.change {
		m.wrote[pgno-1] = m.change
		m.writes++
	}
	return m.Page(pgno)
}

func (m *memory) Fresh(pgno uint32) ([]byte, error) {
	if uint64(pgno)-1 >= uint64(len(m.pages)) {
		return nil, m.Corrupt(pgno, "no such page")
	}
	if m.pages[pgno-1] == nil {
		m.pages[pgno-1] = make([]byte, m.pageSize)
	}
	clear(m.pages[pgno-1])
	return m.Page(pgno)
}

func (m *memory) Discard(pgno uint32) {
	if page, err := m.Page(pgno); err == nil {
		for i := range page {
			page[i] = 0xdd // so that who reads it notices
		}
	}
}

func (m *memory) PageCount() uint32 { return uint32(len(m.pages)) }

func (m *memory) Resize(pages uint32) error {
	for uint32(len(m.pages)) < pages {
		m.pages = append(m.pages, nil)
	}
	m.pages = m.pages[:pages]
	return nil
}

func (m *memory) Moved() { m.age++ }

func (m *memory) Changed(uint32) {}

func (m *memory) Epoch() uint64 { return m.age }

func (m *memory) Corrupt(pgno uint32, what string) error {
	return &dberr.CorruptError{Path: "memory", Page: pgno, What: what}
}

// Workspace returns a workspace for trees in m.
func (m *memory) workspace() *Workspace { return NewWorkspace(m.usable, m.pointers) }

// object adds a table, or an index or a table WITHOUT ROWID if it has columns, to the schema and
// returns its tree.
func (m *memory) object(t testing.TB, ws *Workspace, typ, name, table, sql string, columns []record.KeyColumn) *Tree {
	t.Helper()
	kind := format.LeafTable
	if columns != nil {
		kind = format.LeafIndex
	}
	root, err := m.CreateRoot(kind)
	if err != nil {
		t.Fatal(err)
	}
	if m.schema == nil {
		m.schema = NewTable(m, ws, 1)
	}
	last, _, err := m.schema.LastRowid()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := m.schema.InsertRow(last+1, makeRecord(typ, name, table, int64(root), sql)); err != nil {
		t.Fatal(err)
	}
	if columns != nil {
		return NewIndex(m, ws, root, columns, format.UTF8)
	}
	return NewTable(m, ws, root)
}

// write writes the database to a file.
func (m *memory) write(t testing.TB) (path string) {
	t.Helper()
	path = filepath.Join(t.TempDir(), "memory.db")
	binary.BigEndian.PutUint32(m.pages[0][28:], m.PageCount())
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	for i, p := range m.pages {
		if p == nil {
			continue
		}
		if _, err := f.WriteAt(p, int64(i)*int64(m.pageSize)); err != nil {
			t.Fatal(err)
		}
	}
	return path
}

// makeRecord makes a record of the values: int64, string, []byte, float64 or nil.
func makeRecord(values ...any) []byte { return appendRecord(nil, values...) }

func appendRecord(b []byte, values ...any) []byte {
	var types [16]format.SerialType
	for i, v := range values {
		switch v := v.(type) {
		case nil:
		case int64:
			types[i] = format.IntType(v)
		case float64:
			types[i] = format.SerialFloat
		case string:
			types[i] = format.SerialText + format.SerialType(2*len(v))
		case []byte:
			types[i] = format.SerialBlob + format.SerialType(2*len(v))
		default:
			panic(fmt.Sprintf("a %T in a record", v))
		}
	}
	b = format.AppendRecordHeader(b, types[:len(values)]...)
	for i, v := range values {
		switch v := v.(type) {
		case int64:
			b = format.AppendInt(b, types[i], v)
		case float64:
			b = format.AppendFloat(b, v)
		case string:
			b = append(b, v...)
		case []byte:
			b = append(b, v...)
		}
	}
	return b
}
