package gen

import (
	"path/filepath"
	"testing"

	"github.com/foliofs/folio/internal/oracle/judge"
)

// TestWrite makes each kind thrice, under headers that differ.
func TestWrite(t *testing.T) {
	if !judge.Available {
		t.Skip("C SQLite: no C compiler in this build")
	}
	for i, k := range Kinds {
		for j := range 3 {
			s := Spec{PageSizes[(i*3+j)%8], Encodings[j], Reserves[(i+j)%3], Vacuums[(i+j)%3], k.Name, uint64(i)}
			if err := s.Write(filepath.Join(t.TempDir(), "x.db")); err != nil {
				t.Error(err)
			}
		}
	}
}
