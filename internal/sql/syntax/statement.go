package syntax

// A Statement is one of the types below, or *Select.
type Statement interface {
	Node
	isStatement()
}

// A Conflict is a conflict resolution, as in INSERT OR REPLACE.
type Conflict uint8

const (
	ConflictNone Conflict = iota // not said
	ConflictRollback
	ConflictAbort
	ConflictFail
	ConflictIgnore
	ConflictReplace
)

// An Insert is an INSERT or REPLACE.
type Insert struct {
	Span
	With      *With
	Replace   bool // REPLACE INTO, which means INSERT OR REPLACE
	Conflict  Conflict
	Table     Target
	Columns   []Name
	Query     *Select // nil for DEFAULT VALUES
	Upserts   []Upsert
	Returning []Column
}

// A Target is the table that a statement changes.
type Target struct {
	QualifiedName
	Alias      Name
	IndexedBy  Name
	NotIndexed bool
}

// An Upsert is an ON CONFLICT clause. Update is nil for DO NOTHING.
type Upsert struct {
	Span
	Target      []Term
	TargetWhere *Expr
	Update      []Assignment
	Where       *Expr
}

// An Assignment is COLUMN = VALUE, or (COLUMNS) = VALUE.
type Assignment struct {
	Columns []Name
	Row     bool // written with parentheses
	Value   *Expr
}

// An Update is an UPDATE.
type Update struct {
	Span
	With      *With
	Conflict  Conflict
	Table     Target
	Set       []Assignment
	From      []Source
	Where     *Expr
	Returning []Column
}

// A Delete is a DELETE.
type Delete struct {
	Span
	With      *With
	Table     Target
	Where     *Expr
	Returning []Column
}

// A Transaction is BEGIN, COMMIT or ROLLBACK. END is COMMIT.
type Transaction struct {
	Span
	Action TransactionAction
	Mode   TransactionMode // of BEGIN
}

// A TransactionAction is the action of a Transaction.
type TransactionAction uint8

const (
	Begin TransactionAction = iota
	Commit
	Rollback
)

// A TransactionMode is the mode of BEGIN.
type TransactionMode uint8

const (
	ModeNone TransactionMode = iota // not said, which means deferred
	ModeDeferred
	ModeImmediate
	ModeExclusive
)

// A Savepoint is SAVEPOINT, RELEASE or ROLLBACK TO.
type Savepoint struct {
	Span
	Action SavepointAction
	Name   Name
}

// A SavepointAction is the action of a Savepoint.
type SavepointAction uint8

const (
	SavepointSet SavepointAction = iota
	SavepointRelease
	SavepointRollback
)

// A Pragma is a PRAGMA.
type Pragma struct {
	Span
	Name     QualifiedName
	Value    Name // zero if there is none; a number or ON, too, with its sign in Negative
	Negative bool // -Value
	Call     bool // PRAGMA name(value), not PRAGMA name = value
}

// An Attach is an ATTACH.
type Attach struct {
	Span
	File, As, Key *Expr
}

// A Detach is a DETACH.
type Detach struct {
	Span
	Name *Expr
}

// A Vacuum is a VACUUM.
type Vacuum struct {
	Span
	Schema Name
	Into   *Expr
}

// A Maintain is ANALYZE or REINDEX.
type Maintain struct {
	Span
	Analyze bool
	Name    QualifiedName // zero for all
}

func (*Select) isStatement()      {}
func (*Insert) isStatement()      {}
func (*Update) isStatement()      {}
func (*Delete) isStatement()      {}
func (*Transaction) isStatement() {}
func (*Savepoint) isStatement()   {}
func (*Pragma) isStatement()      {}
func (*Attach) isStatement()      {}
func (*Detach) isStatement()      {}
func (*Vacuum) isStatement()      {}
func (*Maintain) isStatement()    {}
