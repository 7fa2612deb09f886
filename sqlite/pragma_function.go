package sqlite

import (
	"context"
	"database/sql/driver"
	"strconv"
	"strings"

	"github.com/foliofs/folio/internal/record"
	"github.com/foliofs/folio/internal/sql/syntax"
	"github.com/foliofs/folio/internal/sql/value"
)

// mayCallPragma reports whether a text may have a call of [connection.callPragmas].
func mayCallPragma(sql string) bool { return strings.Contains(strings.ToLower(sql), "pragma_") }

// callPragmas gives a query the rows of the pragmas about the schema that it calls in FROM, for
// example pragma_table_info('t'), as a query in their place. The argument is a string or a
// parameter; others are refused when the query is compiled. The query is not kept in the cache.
func (c *connection) callPragmas(ctx context.Context, u *unit, args []driver.NamedValue) (*unit, error) {
	if !mayCallPragma(u.sql) {
		return u, nil
	}
	var calls []*syntax.Source
	syntax.Walk(u.Statement, func(n syntax.Node) bool {
		if s, ok := n.(*syntax.Source); ok && s.Function && pragmaOf(s) != "" {
			calls = append(calls, s)
		}
		return true
	})
	var b strings.Builder
	at := 0
	for _, s := range calls {
		argument, last := "", s.Name.Name.End
		keep := "" // the parameter, so that others keep their numbers
		if len(s.Arguments) > 1 {
			return u, nil
		}
		for _, e := range s.Arguments {
			last = e.End
			switch e.Op {
			case syntax.OpString:
				argument = e.Text
			case syntax.OpParameter:
				keep = " AND " + e.Of(u.sql)
				if n := int(e.Number); n <= len(args) && args[n-1].Name == "" {
					v, err := valueOf(args[n-1].Value)
					if err != nil {
						return nil, err
					}
					argument = string(value.Text(v))
				}
			default:
				return u, nil
			}
		}
		end := strings.IndexByte(u.sql[last:], ')')
		if end < 0 || s.Name.Name.Start < at {
			return u, nil
		}
		name := pragmaOf(s)
		r, err := schemaPragmas[name].run(c, ctx, name, argument)
		if err != nil {
			return nil, err
		}
		b.WriteString(u.sql[at:s.Name.Name.Start])
		b.WriteString(r.asQuery(keep))
		if s.Alias.IsZero() {
			b.WriteString(" AS " + quote(s.Name.Name.Text))
		}
		at = last + end + 1
	}
	if len(calls) == 0 {
		return u, nil
	}
	b.WriteString(u.sql[at:])
	changed, err := parse(b.String())
	if err != nil {
		return nil, err
	}
	changed.once = true
	return changed, nil
}

// pragmaOf returns the name of the pragma that a source of FROM calls, or "".
func pragmaOf(s *syntax.Source) string {
	name, ok := strings.CutPrefix(strings.ToLower(s.Name.Name.Text), "pragma_")
	if _, known := schemaPragmas[name]; !ok || !known || !s.Name.Schema.IsZero() {
		return ""
	}
	return name
}

// asQuery returns a query that has the rows in memory, in parentheses.
func (r *cursor) asQuery(condition string) string {
	var list []string
	for _, c := range r.columns {
		list = append(list, "NULL AS "+quote(c.Name))
	}
	query := "(SELECT " + strings.Join(list, ", ") + " WHERE 0" + condition
	list = nil
	for _, row := range r.kept {
		var values []string
		for _, v := range row {
			values = append(values, literal(v))
		}
		list = append(list, "("+strings.Join(values, ", ")+")")
	}
	if list != nil {
		query += " UNION ALL VALUES " + strings.Join(list, ", ")
	}
	return query + ")"
}

// literal returns a value as SQL.
func literal(v record.Value) string {
	switch v.Kind() {
	case record.Integer:
		return strconv.FormatInt(v.Int(), 10)
	case record.Text:
		return "'" + strings.ReplaceAll(string(v.Bytes()), "'", "''") + "'"
	}
	return "NULL"
}
