package private

// An Upsert is an ON CONFLICT clause of an upsert.
type Upsert struct {
	Any     bool     // without a target
	Key     bool     // the target is the rowid, or the primary key of a table WITHOUT ROWID
	Indexes []string // the unique indexes that the target means
	Update  bool     // DO UPDATE
}

// A RowKey identifies a row of a table: by its rowid, or by its primary key.
type RowKey struct {
	Rowid int64
	Key   []any
}

// An Outcome is what became of a row that a statement wants to insert or to change.
type Outcome struct {
	Row     RowKey // its key
	Ignored bool   // nothing has changed
	Upsert  int    // the clause, from 1, that is to change another row in its place, which is Row
	Values  []any  // of an upsert: the row that was to be inserted, with its rowid
}
