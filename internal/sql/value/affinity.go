package value

// An Affinity is the kind of value that a column or an expression prefers, in the order of SQLite's
// own letters. An expression without one yields to the affinity of the other side of a comparison.
type Affinity int8

// The affinities. Blob is also called none: values stay as they are.
const (
	NoAffinity Affinity = iota - 1 // of an expression
	AffinityBlob
	AffinityText
	AffinityNumeric
	AffinityInteger
	AffinityReal
)

// String returns SQLite's name for the affinity of a column.
func (a Affinity) String() string {
	return [...]string{"BLOB", "TEXT", "NUMERIC", "INTEGER", "REAL"}[a]
}

// Numeric reports whether the affinity makes numbers of texts.
func (a Affinity) Numeric() bool { return a >= AffinityNumeric }

// AffinityOf returns the affinity of a declared type, by the rules of
// https://sqlite.org/datatype3.html section 3.1: it contains INT; else CHAR, CLOB or TEXT; else
// BLOB; else REAL, FLOA or DOUB; else it is numeric. The caller must give a column without a type
// the affinity BLOB. One pass looks for all words: an earlier one yields only to one of a stronger
// rule.
func AffinityOf(declared string) Affinity {
	found := AffinityNumeric
	var last uint32 // the last four bytes, in lower case
	for i := range len(declared) {
		last = last<<8 | uint32(Lower(declared[i]))
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

// Comparison returns the affinity that the two sides of a comparison get.
func Comparison(a, b Affinity) Affinity {
	switch {
	case a == NoAffinity:
		return b
	case b == NoAffinity:
		return a
	case a.Numeric() || b.Numeric():
		return AffinityNumeric
	}
	return AffinityBlob
}
