package gen

import (
	"math"
	"strings"
)

// edges are integers at the borders of the serial types.
var edges = []int64{
	0, 1, -1, 2, 127, 128, -128, -129, 255, 256, 32767, 32768, -32768, -32769, 1<<23 - 1, 1 << 23, -1 << 23, -1<<23 - 1,
	1<<31 - 1, 1 << 31, -1 << 31, -1<<31 - 1, 1<<47 - 1, 1 << 47, -1 << 47, -1<<47 - 1, 1 << 53, 1<<53 + 1,
	math.MaxInt64, math.MinInt64,
}

// floats are reals that SQLite stores or compares in a way of its own.
var floats = []float64{
	0, math.Copysign(0, -1), 1, -1, 0.5, 1e10, 1 << 53, 1<<53 + 2, -9007199254740993, 9.223372036854775e18, 1e300, -1e300,
	math.Inf(1), math.Inf(-1), 5e-324, math.MaxFloat64, math.Pi, 140737488355328, 140737488355327,
}

// words are texts that the collations tell apart, or do not.
var words = []string{
	"", " ", "  ", "a", "A", "a ", "A  ", "ab", "Ab", "aB", "AB ", "b", "B", "Z", "[", "_", "`", "z", "{", "\x7f", "é", "É", "ß",
	"€", "日本語", "\U0001F600", "\uffee", "a\u0301", "tab\t", "a\x00b", "zz zz ", "10", "9", "1e1", "-0",
}

func (m *maker) integer() int64 {
	switch m.rng.IntN(3) {
	case 0:
		return edges[m.rng.IntN(len(edges))]
	case 1:
		return int64(m.rng.IntN(1000))
	}
	return int64(m.rng.Uint64()) >> m.rng.IntN(64)
}

func (m *maker) float() float64 {
	switch m.rng.IntN(3) {
	case 0:
		return floats[m.rng.IntN(len(floats))]
	case 1:
		return float64(m.rng.IntN(1000))
	}
	return m.rng.NormFloat64() * math.Pow(10, float64(m.rng.IntN(20)))
}

// word is a short text that is likely to come again.
func (m *maker) word() string {
	w := words[m.rng.IntN(len(words))]
	if m.rng.IntN(3) == 0 {
		w += words[m.rng.IntN(len(words))]
	}
	return w
}

// text has n characters, not all of them one byte in UTF-8 or two in UTF-16.
func (m *maker) text(n int) string {
	const letters = "abcdefghijklmnopqrstuvwxyz ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
	var b strings.Builder
	for range n {
		switch m.rng.IntN(40) {
		case 0:
			b.WriteString("ü")
		case 1:
			b.WriteString("\U00010348")
		default:
			b.WriteByte(letters[m.rng.IntN(len(letters))])
		}
	}
	return b.String()
}

func (m *maker) blob(n int) []byte {
	b := make([]byte, n)
	for i := range b {
		b[i] = byte(m.rng.Uint32())
	}
	return b
}

// value is anything short.
func (m *maker) value() any {
	switch m.rng.IntN(10) {
	case 0:
		return nil
	case 1, 2, 3:
		return m.integer()
	case 4, 5:
		return m.float()
	case 6, 7:
		return m.word()
	case 8:
		return m.text(m.rng.IntN(40))
	}
	return m.blob(m.rng.IntN(20))
}

// length is a number of bytes about the borders at which a payload spills to one overflow page
// more, up to the given number of pages.
func (m *maker) length(pages int) int {
	u := m.usable()
	local := u - 35 // a table leaf's largest local payload
	base := []int{local, local + (u - 4), u - 4, (u-12)*32/255 - 23, (u-12)*64/255 - 23}[m.rng.IntN(5)]
	n := base + m.rng.IntN(pages)*(u-4) + m.rng.IntN(17) - 8
	return max(n, 0)
}
