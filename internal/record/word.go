package record

import (
	"bytes"
	"encoding/binary"
	"math"

	"github.com/foliofs/folio/internal/format"
)

// A run of records is sorted by words: 8 bytes that stand for the next part of each key and compare
// as the keys do. Most comparisons are then one of two integers side by side; records whose words
// are equal form a group, which is sorted by its next words. This is a multikey quicksort over keys
// of 8-byte letters.
//
//	BITS    depth 0                                  depth 6, 13, 20, ...
//	63..56  storage class, see storageRank           }
//	55..8   6 bytes of the value                     } 7 bytes of the value
//	7..0    how it goes on, below                    how it goes on
//
// A text or BLOB ends in the word with its last 0 to 6 bytes, filled up with zeros, and goes on in
// the next word otherwise. A number is a float64 whose bits are made to compare as integers. The
// first word holds the upper 48 bits; if the rest is not 0 the next word holds the lower 16 bits,
// and by how much rounding to a float64 changed an integer. Descending columns have all bits
// inverted.
const (
	// 0 to 6: the value ends here, with so many bytes
	wordMore = 7 // the next word goes on
	wordLast = 8 // the value ends here and sorts behind values that continue: a negative number

	firstDepth = 6 // bytes in the first word
	nextDepth  = 7 // bytes in each word after it
)

// A WordPlace is a part of a key: the word at depth in column col.
type WordPlace struct{ Col, depth int }

// After returns the place of the words behind equal ones, which stand at p.
func (p WordPlace) After(word uint64, desc bool) WordPlace {
	if desc {
		word = ^word
	}
	switch {
	case byte(word) != wordMore:
		return WordPlace{Col: p.Col + 1}
	case p.depth == 0:
		return WordPlace{p.Col, firstDepth}
	}
	return WordPlace{p.Col, p.depth + nextDepth}
}

// Word returns the word at place p of a record.
func (o Order) Word(record []byte, p WordPlace) uint64 {
	f := Read(record)
	for range p.Col {
		f.Next()
	}
	w := fieldWord(f.Next(), p.depth, o[p.Col].Collation)
	if o[p.Col].Desc {
		return ^w
	}
	return w
}

func fieldWord(f Field, depth int, c Collation) uint64 {
	switch rank := uint64(storageRank(f.Type)); rank {
	case 0:
		return 0
	case 1:
		return numberWord(f, depth)
	case 2:
		return textWord(f.Data, depth, c)
	default:
		return bytesWord(f.Data, depth, rank)
	}
}

// bytesWord makes the word of data at depth.
func bytesWord(data []byte, depth int, rank uint64) uint64 {
	data = data[depth:]
	w := leading(data)
	left := uint64(min(len(data), wordMore))
	if depth == 0 {
		return rank<<56 | w>>16<<8 | left
	}
	return w>>8<<8 | left
}

// leading returns the first 8 bytes of b, filled up with zeros.
func leading(b []byte) uint64 {
	if len(b) >= 8 {
		return binary.BigEndian.Uint64(b)
	}
	w := uint64(0)
	for i, c := range b {
		w |= uint64(c) << (56 - 8*i)
	}
	return w
}

func textWord(text []byte, depth int, c Collation) uint64 {
	switch c {
	case NoCase:
		return foldWord(text, depth)
	case RTrim:
		text = bytes.TrimRight(text, " ")
	}
	return bytesWord(text, depth, 2)
}

// foldWord makes the word of a text under NOCASE, which looks at nothing but the length behind a
// zero byte.
func foldWord(text []byte, depth int) uint64 {
	var b [8]byte
	if n := bytes.IndexByte(text, 0); n < 0 || n > depth {
		if n < 0 {
			n = len(text)
		}
		for i, c := range text[depth:min(n, depth+8)] {
			b[i] = lower(c)
		}
	}
	w := bytesWord(text, depth, 2)
	if depth == 0 {
		return w&^(1<<56-1<<8) | leading(b[:])>>16<<8
	}
	return w&(1<<8-1) | leading(b[:])>>8<<8
}

func numberWord(f Field, depth int) uint64 {
	x, shift := numberOf(f)
	u := sortableBits(x)
	if depth > 0 {
		return u<<48 | uint64(shift+1<<15)<<32
	}
	end := uint64(wordMore)
	switch {
	case math.Abs(x) >= 1<<53: // may be rounded, up or down
	case u>>63 == 1 && u&0xffff == 0:
		end = 0
	case u>>63 == 0 && u&0xffff == 0xffff:
		end = wordLast
	}
	return 1<<56 | u>>16<<8 | end
}

// numberOf returns the float64 next to a number, and how far above it the number is: not 0 for
// large integers only.
func numberOf(f Field) (x float64, shift int) {
	if f.Type == format.SerialFloat {
		return format.Float(f.Data), 0
	}
	v := f.Type.Int(f.Data)
	x = float64(v)
	if x >= 1<<63 {
		return x, int(v-math.MaxInt64) - 1
	}
	return x, int(v - int64(x))
}

// sortableBits maps floats to integers of the same order. Both zeros become one.
func sortableBits(x float64) uint64 {
	b := math.Float64bits(x + 0)
	if b>>63 == 1 {
		return ^b
	}
	return b | 1<<63
}
