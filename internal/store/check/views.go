package check

import (
	"fmt"
	"slices"
	"strings"

	"github.com/foliofs/folio/internal/ddl"
	"github.com/foliofs/folio/internal/store"
)

// Views compares the views of a volume, and the triggers on them, with those of
// docs/reference/format.md. It returns a line, with the way out, for each that is missing or has
// another text, and for each trigger of another program on one of these views: SQLite runs it, too,
// and it may keep the volume's own from running.
//
// missing holds the statements that make the missing views. It is empty if another object has the
// name of a view or of a trigger: statements that go through that object would do something else.
func Views(objects []Object, snapshots, clones bool) (found, missing []string) {
	own := store.FileStatementsOf(clones)
	history := len(own)
	if snapshots {
		own = slices.Concat(own, store.HistoryViews(clones))
	}
	views, taken := make(map[string]bool), false
	for i, sql := range own {
		typ, name := madeBy(sql)
		if typ == "view" {
			views[name] = true
		}
		at := slices.IndexFunc(objects, func(o Object) bool { return ddl.EqualFold(o.Name, name) })
		switch {
		case at < 0:
			missing = append(missing, sql)
			found = append(found, fmt.Sprintf("%s %s is missing: folio check --repair makes it", typ, name))
		case i >= history && objects[at].Type == "table":
			// It is older than the first snapshot, which has left it.
		case objects[at].SQL != sql:
			taken = true
			found = append(found, fmt.Sprintf("%s %s is not that of the format: drop it, and folio check --repair makes it", objects[at].Type, name))
		}
	}
	for _, o := range objects {
		if o.Type == "trigger" && views[ddl.Fold(o.Table)] && !slices.Contains(own, o.SQL) && !named(own, o.Name) {
			found = append(found, fmt.Sprintf("view %s has the trigger %q, which is not of the format: drop it", ddl.Fold(o.Table), o.Name))
		}
	}
	if taken {
		missing = nil
	}
	return found, missing
}

// named reports whether one of the statements makes an object of a name.
func named(statements []string, name string) bool {
	return slices.ContainsFunc(statements, func(sql string) bool {
		_, own := madeBy(sql)
		return ddl.EqualFold(own, name)
	})
}

// madeBy returns the type and the name of the object that a statement of the format makes.
func madeBy(sql string) (typ, name string) {
	words := strings.Fields(sql)
	return strings.ToLower(words[1]), words[2]
}
