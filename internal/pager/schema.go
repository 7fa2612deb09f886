package pager

import (
	"sync"
	"sync/atomic"

	"github.com/foliofs/folio/internal/btree"
)

// A Schema is shared by the snapshots that have one schema cookie. The pager knows only which
// snapshots share it. The package above keeps its tables and indexes here.
type Schema struct {
	Known atomic.Value // nil before that package asks
	Mu    sync.Mutex   // that package's, while it reads the schema
}

// newSchema returns the schema of s: the old one if it has not changed.
func newSchema(s, old *Snapshot) *Schema {
	if old != nil && old.Header.SchemaCookie == s.Header.SchemaCookie && old.Header.Encoding == s.Header.Encoding {
		return old.Schema
	}
	return new(Schema)
}

// prepareSchema gives the writer a freelist for the schema of the transaction, and forgets the kit
// of another one.
func (tx *Tx) prepareSchema() {
	w := tx.writer
	if w.schemaOf != tx.Schema {
		w.freelist = btree.NewFreelist(w, &tx.Header)
		w.kit, w.schemaOf = nil, tx.Schema
	}
}

// Kit returns the value that the caller keeps from one write transaction to the next for as long as
// the schema stays, such as b-trees that remember where they were. It calls make where there is
// none.
func (tx *Tx) Kit(make func() any) any {
	tx.prepareSchema()
	w := tx.writer
	if w.kit == nil {
		w.kit = make()
	}
	return w.kit
}
