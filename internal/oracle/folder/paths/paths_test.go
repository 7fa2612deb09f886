package paths

import "testing"

// TestUnique looks at the lengths and the uniqueness of 200,000 paths.
func TestUnique(t *testing.T) {
	s := NewSet(1, 200_000)
	seen := make(map[string]bool, s.Len())
	for id := int64(1); id <= int64(s.Len()); id++ {
		p := s.Path(id)
		if len(p) < MinLen || len(p) > MaxLen || seen[p] {
			t.Fatalf("row %d: path %q", id, p)
		}
		seen[p] = true
	}
	t.Log(s.Path(1), s.Path(2))
}
