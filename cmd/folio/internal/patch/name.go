package patch

import (
	"fmt"
	"strings"

	"github.com/foliofs/folio/cmd/folio/internal/quote"
)

// quoteName returns a name as git writes it: between quotes, with escapes of C, if there is
// something special in it, and else as it is. git apply and patch(1) read both.
func quoteName(name string) string {
	if quote.Printable(name) && !strings.ContainsAny(name, `"\`) {
		return name
	}
	var b strings.Builder
	b.WriteByte('"')
	for i := range len(name) {
		switch c := name[i]; {
		case c == '"' || c == '\\':
			b.WriteByte('\\')
			b.WriteByte(c)
		case c == '\n':
			b.WriteString(`\n`)
		case c == '\t':
			b.WriteString(`\t`)
		case c < ' ' || c >= 0x7f:
			fmt.Fprintf(&b, `\%03o`, c)
		default:
			b.WriteByte(c)
		}
	}
	b.WriteByte('"')
	return b.String()
}

// headName returns a name for a line that begins with --- or +++. A tab ends a name with a space in
// it, for patch(1).
func headName(name string) string {
	if strings.Contains(name, " ") {
		return quoteName(name) + "\t"
	}
	return quoteName(name)
}
