package syntax

// A CreateTable is a CREATE TABLE. It has either columns or a query.
type CreateTable struct {
	Span
	Temp         bool
	IfNotExists  bool
	Name         QualifiedName
	Columns      []ColumnDef
	Constraints  []Constraint
	WithoutRowid bool
	Strict       bool
	Query        *Select
	Body         Span // from the ( to the ), or of the query
	ColumnsEnd   int  // where the token behind the last column begins: a comma or the )
}

// A ColumnDef is the definition of a column.
type ColumnDef struct {
	Span
	Name        Name
	Type        Span         // from the first word to the ), empty if there is none
	TypeText    string       // the text of Type. It contains GENERATED ALWAYS if that follows the type
	Constraints []Constraint // in the order of the text
}

// A ConstraintKind is the kind of a Constraint.
type ConstraintKind uint8

// The kinds of constraints. The comments say which fields of a Constraint they use.
const (
	ConstraintName       ConstraintKind = iota // CONSTRAINT Name, a name for the next one, if any
	ConstraintPrimaryKey                       // Terms of a table, Order of a column, Conflict, Autoincrement
	ConstraintUnique                           // Terms, Conflict
	ConstraintNull                             // NULL: Conflict
	ConstraintNotNull                          // Conflict
	ConstraintCheck                            // Expr, Text, Conflict
	ConstraintDefault                          // Expr, Text
	ConstraintCollate                          // Name
	ConstraintForeign                          // Columns of a table, Reference
	ConstraintDeferrable                       // Deferrable
	ConstraintGenerated                        // Expr, Text, Name: VIRTUAL, STORED, another word or none; Always
)

// A Constraint is a constraint of a column or of a table.
type Constraint struct {
	Span
	Kind          ConstraintKind
	Comma         bool // a comma is in front of it: it ends the reach of CONSTRAINT Name
	Name          Name
	Terms         []Term
	Order         Order
	Conflict      Conflict
	Autoincrement bool
	Always        bool // GENERATED ALWAYS is in front of AS
	Expr          *Expr
	Text          Span // of the expression, for the schema: between the parentheses, if there are any
	Parens        bool // DEFAULT (Expr)
	Columns       []NameTerm
	Reference     *Reference
	Deferrable    Deferrable
}

// A NameTerm is a name in a list of columns of a foreign key, a view or a common table expression.
// SQLite still reads a COLLATE and a direction there, and refuses them except in an old schema.
type NameTerm struct {
	Name   Name
	Legacy bool // has COLLATE, ASC or DESC
}

// A Reference is the parent of a foreign key.
type Reference struct {
	Table    Name
	Columns  []NameTerm
	OnDelete Action
	OnUpdate Action
}

// An Action is an action of a foreign key.
type Action uint8

const (
	ActionNone Action = iota // not said, or NO ACTION
	ActionSetNull
	ActionSetDefault
	ActionCascade
	ActionRestrict
)

// String returns the action in SQL.
func (a Action) String() string {
	return [...]string{"NO ACTION", "SET NULL", "SET DEFAULT", "CASCADE", "RESTRICT"}[a]
}

// A Deferrable is when a foreign key is checked.
type Deferrable uint8

const (
	DeferrableNone     Deferrable = iota // not said
	DeferrableNot                        // NOT DEFERRABLE, with any INITIALLY
	DeferrableNow                        // DEFERRABLE, perhaps INITIALLY IMMEDIATE
	DeferrableDeferred                   // DEFERRABLE INITIALLY DEFERRED
)

// A CreateIndex is a CREATE INDEX.
type CreateIndex struct {
	Span
	Unique      bool
	IfNotExists bool
	Name        QualifiedName
	Table       Name
	Terms       []Term
	Where       *Expr
	WhereText   Span // of Where, with the parentheses around it
}

// A CreateView is a CREATE VIEW.
type CreateView struct {
	Span
	Temp        bool
	IfNotExists bool
	Name        QualifiedName
	Columns     []NameTerm
	Query       *Select // nil after ParseStored
	Text        Span    // of the query
}

// A CreateVirtual is a CREATE VIRTUAL TABLE.
type CreateVirtual struct {
	Span
	IfNotExists bool
	Name        QualifiedName
	Module      Name
	Parens      bool
	Arguments   []Span // from the first token to the last, may be empty
	Texts       []string
}

// A CreateTrigger is a CREATE TRIGGER.
type CreateTrigger struct {
	Span
	Temp        bool
	IfNotExists bool
	Name        QualifiedName
	Time        TriggerTime
	Event       TriggerEvent
	Columns     []Name // of UPDATE OF
	Table       QualifiedName
	ForEachRow  bool
	When        *Expr       // this and the steps are nil after ParseStored
	Steps       []Statement // *Insert, *Update, *Delete, *Select
}

// A TriggerTime is when a trigger runs.
type TriggerTime uint8

const (
	TriggerNone TriggerTime = iota // not said, which means before
	TriggerBefore
	TriggerAfter
	TriggerInsteadOf
)

// A TriggerEvent is the change that starts a trigger.
type TriggerEvent uint8

const (
	TriggerDelete TriggerEvent = iota
	TriggerInsert
	TriggerUpdate
)

// An ObjectKind is the kind of object that a DROP drops.
type ObjectKind uint8

const (
	ObjectTable ObjectKind = iota
	ObjectIndex
	ObjectView
	ObjectTrigger
)

// A Drop is a DROP.
type Drop struct {
	Span
	Kind     ObjectKind
	IfExists bool
	Name     QualifiedName
}

// An AlterAction is the action of an Alter.
type AlterAction uint8

// The actions of ALTER TABLE. The comments say which fields of an Alter they use.
const (
	AlterRename         AlterAction = iota // To
	AlterRenameColumn                      // Column, To
	AlterAddColumn                         // Definition
	AlterDropColumn                        // Column
	AlterAddConstraint                     // Constraint, a CHECK with or without a name
	AlterDropConstraint                    // Column: the name of the constraint
	AlterSetNotNull                        // Column, Constraint
	AlterDropNotNull                       // Column
)

// An Alter is an ALTER TABLE.
type Alter struct {
	Span
	Table      QualifiedName
	Action     AlterAction
	Column     Name
	To         Name
	Definition *ColumnDef
	Constraint *Constraint
}

func (*CreateTable) isStatement()   {}
func (*CreateIndex) isStatement()   {}
func (*CreateView) isStatement()    {}
func (*CreateVirtual) isStatement() {}
func (*CreateTrigger) isStatement() {}
func (*Drop) isStatement()          {}
func (*Alter) isStatement()         {}
