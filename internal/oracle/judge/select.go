package judge

import (
	"context"
	"database/sql/driver"
	"iter"
	"strings"
)

// Select yields the values of the expressions for each row of "from", as stored. The slice of
// values is reused; their bytes are not.
//
// typeof says the storage class, and a cast to BLOB leaves the bytes of a text as they are, in the
// database's encoding. The driver would otherwise convert both by the column's declared type.
func (c *Conn) Select(ctx context.Context, exprs []string, from string, args ...any) iter.Seq2[[]Value, error] {
	var q strings.Builder
	q.WriteString("SELECT ")
	for i, e := range exprs {
		if i > 0 {
			q.WriteString(", ")
		}
		q.WriteString("typeof(" + e + "), CASE typeof(" + e + ") WHEN 'text' THEN CAST(" + e + " AS BLOB) ELSE +" + e + " END")
	}
	q.WriteString(" FROM " + from)
	return func(yield func([]Value, error) bool) {
		out := make([]Value, len(exprs))
		for row, err := range c.Rows(ctx, q.String(), args...) {
			if err != nil {
				yield(nil, err)
				return
			}
			for i := range out {
				out[i] = value(row[2*i], row[2*i+1])
			}
			if !yield(out, nil) {
				return
			}
		}
	}
}

// value joins a typeof and a value.
func value(typeof, v driver.Value) Value {
	name, _ := typeof.(string)
	out := Value{Kind: kindOf(name)}
	switch v := v.(type) {
	case int64:
		out.Int = v
	case float64:
		out.Real = v
	case []byte:
		out.Bytes = v
	}
	return out
}
