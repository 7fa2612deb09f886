package ddl

import (
	"testing"

	"github.com/foliofs/folio/internal/sql/value"
)

func TestUnquote(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		"": "", "a": "a", `"a"`: "a", "'a'": "a", "`a`": "a", "[a]": "a", `""`: "", "[]": "",
		`"a""b"`: `a"b`, "'it''s'": "it's", "[a]]": "a]", `"a" b`: "a", `"a`: "a", `"`: "", `'"'`: `"`, `""""`: `"`, "a'b": "a'b",
	} {
		if got := Unquote(in); got != want {
			t.Errorf("Unquote(%s) = %s, want %s", in, got, want)
		}
	}
}

// TestFold wants only ASCII letters to have no case.
func TestFold(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		a, b string
		same bool
	}{
		{"", "", true},
		{"Abc", "aBC", true},
		{"a", "ab", false},
		{"Ä", "ä", false},
		{"\u212a", "k", false}, // the sign for Kelvin
		{"@[", "`{", false},
		{"É_z1", "É_Z1", true},
	} {
		if EqualFold(c.a, c.b) != c.same || (Fold(c.a) == Fold(c.b)) != c.same {
			t.Errorf("%q and %q: %t, %q and %q", c.a, c.b, EqualFold(c.a, c.b), Fold(c.a), Fold(c.b))
		}
	}
}

// TestScanAffinity holds declared types to the rules of SQLite.
func TestScanAffinity(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]value.Affinity{
		"INT": value.AffinityInteger, "TINYint(1)": value.AffinityInteger, "VARCHAR(10)": value.AffinityText, "CLOB": value.AffinityText,
		"mediumtext": value.AffinityText, "BLOB": value.AffinityBlob, "REAL": value.AffinityReal, "DOUBLE PRECISION": value.AffinityReal, "FLOAT": value.AffinityReal,
		"NUMERIC": value.AffinityNumeric, "DATE": value.AffinityNumeric, "FLOATING POINT": value.AffinityInteger, "CHARINT": value.AffinityInteger,
		"REALBLOB": value.AffinityBlob, "BLOBREAL": value.AffinityBlob, "BLOBTEXT": value.AffinityText, "TEXTBLOB": value.AffinityText, "ANY": value.AffinityNumeric, "x": value.AffinityNumeric,
	} {
		if got := value.AffinityOf(in); got != want {
			t.Errorf("value.AffinityOf(%q) = %v, want %v", in, got, want)
		}
	}
}
