package ddl

import "github.com/foliofs/folio/internal/sql/syntax"

// Virtual is the content of a CREATE VIRTUAL TABLE, without the name.
type Virtual struct {
	Module string
	Args   []string // as written, empty ones left out
}

// newVirtual returns the table of a CREATE VIRTUAL TABLE.
func newVirtual(sql string, n *syntax.CreateVirtual) *Table {
	v := &Virtual{Module: n.Module.Text}
	for _, a := range n.Texts {
		if a != "" {
			v.Args = append(v.Args, a)
		}
	}
	return &Table{
		Name: n.Name.Name.Text, Schema: n.Name.Schema.Text, IfNotExists: n.IfNotExists, RowidAlias: -1,
		Virtual: v, body: sql[n.Name.Name.Start:n.End],
	}
}

// A View is a parsed CREATE VIEW.
type View struct {
	Name    string
	Schema  string // "" if not given
	Temp    bool
	Columns []string // their names, if the statement gives any
	Select  string   // its text

	IfNotExists bool

	body string
}

func newView(sql string, n *syntax.CreateView, end int) *View {
	return &View{
		Name: n.Name.Name.Text, Schema: n.Name.Schema.Text, Temp: n.Temp, Columns: names(n.Columns),
		Select: n.Text.Of(sql), IfNotExists: n.IfNotExists, body: trimSpaceRight(sql[n.Name.Name.Start:end]),
	}
}

// SQL implements Statement.
func (v *View) SQL() string { return "CREATE VIEW " + v.body }

// A Trigger is a parsed CREATE TRIGGER.
type Trigger struct {
	Name    string
	Schema  string // "" if not given
	Temp    bool
	Table   string // or view
	Instead bool   // INSTEAD OF: of a view

	IfNotExists bool

	body string
}

func newTrigger(sql string, n *syntax.CreateTrigger) *Trigger {
	return &Trigger{
		Name: n.Name.Name.Text, Schema: n.Name.Schema.Text, Temp: n.Temp, Table: n.Table.Name.Text,
		Instead: n.Time == syntax.TriggerInsteadOf, IfNotExists: n.IfNotExists, body: sql[n.Name.Name.Start:n.End],
	}
}

// SQL implements Statement.
func (t *Trigger) SQL() string { return "CREATE TRIGGER " + t.body }

// names returns the names of a list, nil if there is none.
func names(list []syntax.NameTerm) (names []string) {
	for i := range list {
		names = append(names, list[i].Name.Text)
	}
	return names
}
