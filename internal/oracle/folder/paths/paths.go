// Package paths makes the paths of the lookup experiments out of a seed, so that a program can know the right answer to
// every lookup without asking the database.
//
// It imports no driver: the contenders use it, and their C symbols clash.
package paths

// The lengths of a path lie in [MinLen, MaxLen].
const (
	MinLen = 45
	MaxLen = 60
)

const alphabet = "abcdefghijklmnopqrstuvwxyz012345"

// Append appends the path of a row. It consists of /home and of directories with random names, and holds more than 150
// random bits: no two rows share a path.
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

// A Set is the paths of the rows 1 to n.
type Set struct {
	text string
	ends []uint32
}

// NewSet makes the paths of the rows 1 to n.
func NewSet(seed uint64, n int) *Set {
	b := make([]byte, 0, n*(MinLen+MaxLen)/2)
	s := &Set{ends: make([]uint32, n+1)}
	for i := range n {
		b = Append(b, seed, int64(i+1))
		s.ends[i+1] = uint32(len(b))
	}
	s.text = string(b)
	return s
}

// Len is the number of rows.
func (s *Set) Len() int { return len(s.ends) - 1 }

// Path is the path of a row.
func (s *Set) Path(id int64) string { return s.text[s.ends[id-1]:s.ends[id]] }

// Rand is a stream of random numbers, splitmix64, whose state is the value itself.
type Rand uint64

// Next is the next number.
func (r *Rand) Next() uint64 {
	*r += 0x9e3779b97f4a7c15
	return mix(uint64(*r))
}

// ID is a random row of n.
func (r *Rand) ID(n int) int64 { return 1 + int64(r.Next()%uint64(n)) }

func mix(x uint64) uint64 {
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}
