package bank

import "testing"

// sound returns the look of a reader after three transactions of the only writer.
func sound() Look {
	l := Look{Sums: [3]int64{Total, Total, Total}, Numbers: []int64{3}, Again: []int64{3}}
	for seq := int64(1); seq <= 3; seq++ {
		l.Notes = append(l.Notes, Note{seq, Body(0, seq)})
	}
	return l
}

// TestWrong: each thing that can be wrong with a snapshot is found.
func TestWrong(t *testing.T) {
	t.Parallel()
	l := sound()
	if what := l.Wrong([]int64{3}); what != "" {
		t.Fatalf("nothing is wrong, but: %s", what)
	}
	for name, spoil := range map[string]func(l *Look){
		"table":       func(l *Look) { l.Sums[0]-- },
		"index":       func(l *Look) { l.Sums[1]++ },
		"second sum":  func(l *Look) { l.Sums[2]++ },
		"lost":        func(l *Look) { l.Numbers[0], l.Again[0], l.Notes = 2, 2, l.Notes[:2] },
		"not stable":  func(l *Look) { l.Again[0]++ },
		"missing":     func(l *Look) { l.Notes = l.Notes[:2] },
		"other bytes": func(l *Look) { l.Notes[1].Body += "x" },
		"other note":  func(l *Look) { l.Notes[1].Seq++ },
		"no writer":   func(l *Look) { l.Writer = 1 },
	} {
		l := sound()
		if spoil(&l); l.Wrong([]int64{3}) == "" {
			t.Errorf("%s: nothing found", name)
		}
	}
}
