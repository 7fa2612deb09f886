package ddl

import "github.com/foliofs/folio/internal/sql/value"

// AffinityOf returns the affinity of a type as a statement has it, perhaps in quotes.
func AffinityOf(declared string) value.Affinity { return value.AffinityOf(Unquote(declared)) }

// A StandardType is one of the six type names that a STRICT table may use.
type StandardType uint8

// The standard types. Custom is every other name, and none at all.
const (
	Custom StandardType = iota
	Any
	Blob
	Int
	Integer
	Real
	Text
)

var standardTypes = [...]struct {
	name     string
	affinity value.Affinity
}{
	Any:     {"ANY", value.AffinityNumeric},
	Blob:    {"BLOB", value.AffinityBlob},
	Int:     {"INT", value.AffinityInteger},
	Integer: {"INTEGER", value.AffinityInteger},
	Real:    {"REAL", value.AffinityReal},
	Text:    {"TEXT", value.AffinityText},
}

// standardType returns which standard type a declared type is.
func standardType(declared string) StandardType {
	for t := Any; t <= Text; t++ {
		if EqualFold(declared, standardTypes[t].name) {
			return t
		}
	}
	return Custom
}
