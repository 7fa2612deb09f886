package gen

// A Kind is one thing that a database can hold.
type Kind struct {
	Name  string
	make  func(m *maker)
	after func(m *maker) // outside of the transaction; may be nil
}

// Kinds are all kinds. Their number is prime to the number of headers, so that a rotation meets
// every pair.
var Kinds = []Kind{
	{Name: "rowid", make: makeRowid},
	{Name: "alias", make: makeAlias},
	{Name: "autoincrement", make: makeAutoincrement},
	{Name: "strict", make: makeStrict},
	{Name: "added", make: makeAdded},
	{Name: "generated", make: makeGenerated},
	{Name: "real", make: makeReal},
	{Name: "overflow", make: makeOverflow},
	{Name: "empty", make: makeEmpty},
	{Name: "deep", make: makeDeep},
	{Name: "deleted", make: makeDeleted, after: vacuumSome},
	{Name: "key1", make: makeKey1},
	{Name: "key2", make: makeKey2},
	{Name: "key3", make: makeKey3},
	{Name: "keywide", make: makeKeyWide},
	{Name: "index", make: makeIndex},
	{Name: "partial", make: makePartial},
	{Name: "indexwide", make: makeIndexWide},
	{Name: "names", make: makeNames},
}

func kindNamed(name string) (Kind, bool) {
	for _, k := range Kinds {
		if k.Name == name {
			return k, true
		}
	}
	return Kind{}, false
}

// expressions are the columns of the indexes that have any which is an expression.
var expressions = map[string][]string{
	"partial_expr":  {"lower(b)", "a"},
	"partial_sum":   {"a + 1", "length(c)"},
	"partial_where": {"b", "abs(a)"},
}

// Expressions are the texts of the columns of an index that has an expression.
func Expressions(index string) ([]string, bool) {
	e, ok := expressions[index]
	return e, ok
}
