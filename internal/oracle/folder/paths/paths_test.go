package paths

import "testing"

// TestUnique looks at the lengths and the uniqueness of 200,000 paths.
func TestUnique(t *testing.T) {
	seen := make(map[string]bool)
	for id := range int64(200_000) {
		p := string(Append(nil, 1, id))
		if len(p) < MinLen || len(p) > MaxLen || seen[p] {
			t.Fatalf("row %d: path %q", id, p)
		}
		seen[p] = true
	}
}

// TestRandom compares a list with the paths of its rows.
func TestRandom(t *testing.T) {
	r := Rand(1)
	l := Random(3, 10, 50, &r)
	for i := range l.Len() {
		id, path := l.At(i)
		if id < 1 || id > 10 || path != string(Append(nil, 3, id)) {
			t.Fatalf("item %d: row %d, path %q", i, id, path)
		}
	}
}
