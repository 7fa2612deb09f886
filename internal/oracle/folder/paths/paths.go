// Package paths makes the paths of the benchmarks out of a seed, so that a program can know the
// right answer to every lookup without asking the database.
package paths

// The lengths of a path lie in [MinLen, MaxLen].
const (
	MinLen = 45
	MaxLen = 60
)

const alphabet = "abcdefghijklmnopqrstuvwxyz012345"

// Append appends the path of a row. It consists of /home and of directories with random names, and
// holds more than 150 random bits: no two rows share a path.
func Append(b []byte, seed uint64, id int64) []byte {
	r := Rand(mix(seed) ^ mix(uint64(id)+0x9e3779b97f4a7c15))
	bits := r.Next()
	end := len(b) + MinLen + int(bits%(MaxLen-MinLen+1))
	b = append(b, "/home"...)
	for left := 0; len(b) < end; left-- {
		if left == 0 {
			left = 6 + int(r.Next()%8)
			b = append(b, '/')
			continue
		}
		bits = r.Next()
		b = append(b, alphabet[bits%uint64(len(alphabet))])
	}
	if b[end-1] == '/' {
		b[end-1] = 'x'
	}
	return b
}

// A List is rows with their paths, one after the other in memory.
type List struct {
	ids  []int64
	text string
	ends []uint64
}

// NewList lists the paths of the given rows.
func NewList(seed uint64, ids []int64) *List {
	b := make([]byte, 0, len(ids)*MaxLen)
	l := &List{ids: ids, ends: make([]uint64, len(ids)+1)}
	for i, id := range ids {
		b = Append(b, seed, id)
		l.ends[i+1] = uint64(len(b))
	}
	l.text = string(b)
	return l
}

// Random lists n rows out of those from 1 to rows, drawn with r.
func Random(seed uint64, rows, n int, r *Rand) *List {
	ids := make([]int64, n)
	for i := range ids {
		ids[i] = 1 + int64(r.Next()%uint64(rows))
	}
	return NewList(seed, ids)
}

// Len is the length of the list.
func (l *List) Len() int { return len(l.ids) }

// At is item i of the list: a row and its path.
func (l *List) At(i int) (id int64, path string) { return l.ids[i], l.text[l.ends[i]:l.ends[i+1]] }

// Rand is a stream of random numbers, splitmix64, whose state is the value itself.
type Rand uint64

// Next is the next number.
func (r *Rand) Next() uint64 {
	*r += 0x9e3779b97f4a7c15
	return mix(uint64(*r))
}

func mix(x uint64) uint64 {
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}
