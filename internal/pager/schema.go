package pager

import (
	"sync"
	"sync/atomic"
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
