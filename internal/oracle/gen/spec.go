// Package gen makes databases with C SQLite, one for each combination of the settings in a file's
// header and of the kinds of tables. The same Spec makes the same contents in every run.
package gen

import (
	"fmt"
	"math/rand/v2"
	"os"

	"github.com/foliofs/folio/internal/oracle/judge"
)

// Spec describes the database to make.
type Spec struct {
	PageSize   int
	Encoding   string // as PRAGMA encoding spells it
	Reserved   int    // unused bytes at the end of each page
	AutoVacuum int    // 0 none, 1 full, 2 incremental
	Kind       string // a name out of Kinds
	Seed       uint64
}

func (s Spec) String() string {
	return fmt.Sprintf("%d,%s,reserved=%d,vacuum=%d,%s,seed=%d", s.PageSize, s.Encoding, s.Reserved, s.AutoVacuum, s.Kind, s.Seed)
}

// The ranges that Specs crosses.
var (
	PageSizes = []int{512, 1024, 2048, 4096, 8192, 16384, 32768, 65536}
	Encodings = []string{"UTF-8", "UTF-16le", "UTF-16be"}
	Reserves  = []int{0, 8, 32}
	Vacuums   = []int{0, 1, 2}
)

// Specs crosses all page sizes, encodings, reserved bytes and auto_vacuum modes, and gives each
// combination perCombo kinds in rotation. With len(Kinds) of them it is the full product.
func Specs(seed uint64, perCombo int) []Spec {
	var all []Spec
	kind := 0
	for _, size := range PageSizes {
		for _, enc := range Encodings {
			for _, res := range Reserves {
				for _, vac := range Vacuums {
					for range perCombo {
						all = append(all, Spec{size, enc, res, vac, Kinds[kind%len(Kinds)].Name, seed + uint64(len(all))})
						kind++
					}
				}
			}
		}
	}
	return all
}

// Write makes the database of s in a new file.
func (s Spec) Write(path string) (err error) {
	kind, ok := kindNamed(s.Kind)
	if !ok {
		return fmt.Errorf("gen: no kind %q", s.Kind)
	}
	c, err := judge.Open("file:" + path + "?_journal_mode=off&_sync=off")
	if err != nil {
		return err
	}
	defer func() {
		if cerr := c.Close(); err == nil {
			err = cerr
		}
	}()
	m := &maker{spec: s, conn: c, rng: rand.New(rand.NewPCG(s.Seed, uint64(s.PageSize)))}
	m.header()
	m.exec("BEGIN")
	kind.make(m)
	m.exec("COMMIT")
	if kind.after != nil {
		kind.after(m)
	}
	if m.err != nil {
		return fmt.Errorf("gen: %v: %w", s, m.err)
	}
	return s.verify(path)
}

// verify checks that the header has the requested settings: SQLite ignores such wishes without a
// word.
func (s Spec) verify(path string) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	var h [100]byte
	if _, err := f.ReadAt(h[:], 0); err != nil {
		return err
	}
	size := int(h[16])<<8 | int(h[17])
	if size == 1 {
		size = 65536
	}
	vacuum := 0
	if h[55] != 0 || h[54] != 0 || h[53] != 0 || h[52] != 0 {
		vacuum = 1 + int(h[67])
	}
	enc := Encodings[(h[59]-1)%3]
	if size != s.PageSize || int(h[20]) != s.Reserved || vacuum != s.AutoVacuum || enc != s.Encoding {
		return fmt.Errorf("gen: %v: SQLite made page size %d, %s, reserved %d, vacuum %d", s, size, enc, h[20], vacuum)
	}
	return nil
}
