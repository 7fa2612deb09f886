package ddl

import "testing"

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
	for in, want := range map[string]Affinity{
		"INT": AffinityInteger, "TINYint(1)": AffinityInteger, "VARCHAR(10)": AffinityText, "CLOB": AffinityText,
		"mediumtext": AffinityText, "BLOB": AffinityBlob, "REAL": AffinityReal, "DOUBLE PRECISION": AffinityReal, "FLOAT": AffinityReal,
		"NUMERIC": AffinityNumeric, "DATE": AffinityNumeric, "FLOATING POINT": AffinityInteger, "CHARINT": AffinityInteger,
		"REALBLOB": AffinityBlob, "BLOBREAL": AffinityBlob, "BLOBTEXT": AffinityText, "TEXTBLOB": AffinityText, "ANY": AffinityNumeric, "x": AffinityNumeric,
	} {
		if got := scanAffinity(in); got != want {
			t.Errorf("scanAffinity(%q) = %v, want %v", in, got, want)
		}
	}
}
