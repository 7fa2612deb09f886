package ddl

// An Affinity is the kind of value that a column prefers to store, in the order of SQLite's own
// letters.
type Affinity uint8

// The affinities. Blob is also called none: values stay as they are.
const (
	AffinityBlob Affinity = iota
	AffinityText
	AffinityNumeric
	AffinityInteger
	AffinityReal
)

// String returns SQLite's name for the affinity.
func (a Affinity) String() string {
	return [...]string{"BLOB", "TEXT", "NUMERIC", "INTEGER", "REAL"}[a]
}

// AffinityOf returns the affinity of the type in a CAST, as written.
func AffinityOf(declared string) Affinity { return scanAffinity(Unquote(declared)) }

// scanAffinity returns the affinity of a declared type, by the rules of
// https://sqlite.org/datatype3.html section 3.1: it contains INT; else CHAR, CLOB or TEXT; else
// BLOB; else REAL, FLOA or DOUB; else it is numeric. The caller must give a column without a type
// the affinity BLOB. One pass looks for all words: an earlier one yields only to one of a stronger
// rule.
func scanAffinity(declared string) Affinity {
	found := AffinityNumeric
	var last uint32 // the last four bytes, in lower case
	for i := range len(declared) {
		last = last<<8 | uint32(fold(declared[i]))
		switch last {
		case 'c'<<24 | 'h'<<16 | 'a'<<8 | 'r', 'c'<<24 | 'l'<<16 | 'o'<<8 | 'b', 't'<<24 | 'e'<<16 | 'x'<<8 | 't':
			found = AffinityText
		case 'b'<<24 | 'l'<<16 | 'o'<<8 | 'b':
			if found == AffinityNumeric || found == AffinityReal {
				found = AffinityBlob
			}
		case 'r'<<24 | 'e'<<16 | 'a'<<8 | 'l', 'f'<<24 | 'l'<<16 | 'o'<<8 | 'a', 'd'<<24 | 'o'<<16 | 'u'<<8 | 'b':
			if found == AffinityNumeric {
				found = AffinityReal
			}
		}
		if last&0xffffff == 'i'<<16|'n'<<8|'t' {
			return AffinityInteger
		}
	}
	return found
}

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
	affinity Affinity
}{
	Any:     {"ANY", AffinityNumeric},
	Blob:    {"BLOB", AffinityBlob},
	Int:     {"INT", AffinityInteger},
	Integer: {"INTEGER", AffinityInteger},
	Real:    {"REAL", AffinityReal},
	Text:    {"TEXT", AffinityText},
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
