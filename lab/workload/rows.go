package workload

import (
	"errors"
	"fmt"
	"slices"
	"strings"
)

// A Table says which rows a store keeps. The first column is the key: a number that no two rows
// share, which SQLite has as the rowid.
type Table struct {
	Name    string
	Columns []Column
	// Replaces says that Put replaces the row with the same key, if there is one. If not, a program
	// knows that the key is new, so a store need not look.
	Replaces bool
}

// A Column is a column of a Table.
type Column struct {
	Name    string
	Kind    Kind
	Indexed bool // not of the key, which every store finds rows by
}

// A Kind is the type of a column or of a value.
type Kind uint8

// The kinds of values.
const (
	Integer Kind = iota
	Text
	Blob
)

// A Value is a cell of a row, or an argument of a statement. It is a struct, as an interface would
// allocate memory for each value, also with drivers that need none.
type Value struct {
	Kind  Kind   `json:"kind,omitempty"`
	Int   int64  `json:"int,omitempty"`
	Text  string `json:"text,omitempty"`
	Bytes []byte `json:"bytes,omitempty"`
}

// Int is an integer.
func Int(n int64) Value { return Value{Kind: Integer, Int: n} }

// Str is a text.
func Str(s string) Value { return Value{Kind: Text, Text: s} }

// Bytes is a BLOB.
func Bytes(b []byte) Value { return Value{Kind: Blob, Bytes: b} }

// Any is the value as database/sql takes it.
func (v Value) Any() any {
	switch v.Kind {
	case Integer:
		return v.Int
	case Text:
		return v.Text
	default:
		return v.Bytes
	}
}

// A Row is one row of a result. It is valid until the function that got it returns.
type Row interface {
	Int(column int) int64
	// Bytes returns a text or a BLOB. It is valid until the next call of Bytes, because some
	// drivers have one buffer for all columns.
	Bytes(column int) []byte
}

// The tables of the workloads.
var (
	TaskTable = &Table{Name: "task", Columns: []Column{
		{Name: "id"}, {"status", Text, true}, {"cmd", Text, false}, {"args", Text, false}, {"output", Text, false},
	}}
	PairTable = &Table{Name: "pair", Columns: []Column{{Name: "key"}, {"value", Blob, false}}, Replaces: true}
	ItemTable = &Table{Name: "item", Columns: []Column{{Name: "id"}, {"a", Integer, true}, {"b", Text, true}, {"body", Text, false}}}
)

// Schema returns the statements that make the table in SQL, where integers have the given type.
func (t *Table) Schema(integer string) []string {
	types := [...]string{Integer: integer, Text: "TEXT", Blob: "BLOB"}
	columns := []string{t.Columns[0].Name + " " + integer + " PRIMARY KEY"}
	list := []string{""}
	for _, c := range t.Columns[1:] {
		columns = append(columns, c.Name+" "+types[c.Kind])
		if c.Indexed {
			list = append(list, fmt.Sprintf("CREATE INDEX %s_%s ON %[1]s (%[2]s)", t.Name, c.Name))
		}
	}
	list[0] = fmt.Sprintf("CREATE TABLE %s (%s)", t.Name, strings.Join(columns, ", "))
	return list
}

// Rows is a store of the rows of one table.
type Rows interface {
	// Session opens a connection for one goroutine.
	Session() (RowSession, error)
	// Busy counts how often an operation was refused because of another writer, and tried again.
	Busy() int64
	Close() error
}

// A RowSession changes rows. Each call of Put, Set and Delete is a transaction, and commits as the
// group of the job demands.
type RowSession interface {
	// Put stores a row. The caller may change it when Put has returned.
	Put(row []Value) error
	Set(key int64, column int, v Value) error
	Delete(key int64) error
	// Each calls fn for each row.
	Each(fn func(row Row) error) error
	session
}

// A RowLoader is a RowSession that stores many rows at once, and reads indexes.
type RowLoader interface {
	RowSession
	// Load stores rows in one transaction: fn returns row i of n, until the next call of it.
	Load(n int, fn func(i int) []Value) error
	// By calls fn for the key of each row, in the order of an indexed column.
	By(column int, fn func(key int64) error) error
}

// takes returns whether an API has a store of a table.
func takes(t *Table) func(a *API) bool {
	return func(a *API) bool { return slices.Contains(a.Tables, t) }
}

// writers opens a store of a table with n sessions, for work that write returns for each of them.
// The answer of the work is the sum that add makes of the rows that are left.
func writers(j *Job, a *API, t *Table, n int, write func(i int, s RowSession) Worker, add func(a *Answer, row Row)) (*Work, error) {
	store, err := a.Rows(j, t)
	if err != nil {
		return nil, err
	}
	w := &Work{Busy: store.Busy, Close: store.Close}
	list, err := sessions(w, n, store.Session)
	if err != nil {
		return nil, err
	}
	for i, s := range list {
		w.Workers = append(w.Workers, write(i, s))
	}
	w.Answer = func() (a Answer, err error) {
		err = list[0].Each(func(row Row) error {
			add(&a, row)
			return nil
		})
		return a, err
	}
	return w, nil
}

// A loading is a store that has one session.
type loading struct {
	RowLoader
	store Rows
}

func (l *loading) Close() error { return errors.Join(l.RowLoader.Close(), l.store.Close()) }

// loader opens a store of a table with one session, which loads.
func loader(j *Job, a *API, t *Table) (*loading, error) {
	store, err := a.Rows(j, t)
	if err != nil {
		return nil, err
	}
	s, err := store.Session()
	if err != nil {
		return nil, errors.Join(err, store.Close())
	}
	l, ok := s.(RowLoader)
	if !ok {
		return nil, errors.Join(errors.ErrUnsupported, s.Close(), store.Close())
	}
	return &loading{l, store}, nil
}

// commit times one operation.
func commit(r *Recorder, fn func() error) error {
	start := r.Start()
	err := fn()
	r.Stop(start)
	return err
}
