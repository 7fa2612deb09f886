package function

import (
	"bytes"

	"github.com/foliofs/folio/internal/record"
	"github.com/foliofs/folio/internal/sql/value"
)

// length counts the characters of a text up to its first zero byte, and the bytes of anything else.
func length(args []record.Value) (record.Value, error) {
	v := args[0]
	switch v.Kind() {
	case record.Null:
		return v, nil
	case record.Text:
		return record.OfInt(countRunes(value.CString(v.Bytes()))), nil
	}
	return record.OfInt(int64(len(value.Text(v)))), nil
}

func countRunes(b []byte) (n int64) {
	for ; len(b) > 0; n++ {
		b = skipRune(b)
	}
	return n
}

// mapping is a function that maps each byte of a text.
func mapping(fn func(byte) byte) func(args []record.Value) (record.Value, error) {
	return func(args []record.Value) (record.Value, error) {
		if args[0].Kind() == record.Null {
			return record.Value{}, nil
		}
		b := bytes.Clone(value.Text(args[0]))
		for i, c := range b {
			b[i] = fn(c)
		}
		return record.OfText(b), nil
	}
}

// substr is substr(x, from, count): from counts from 1, or from the end if it is negative; a
// negative count means the characters before.
func substr(args []record.Value) (record.Value, error) {
	v := args[0]
	isBlob := v.Kind() == record.Blob
	if v.Kind() == record.Null || isBlob && len(v.Bytes()) == 0 {
		return record.Value{}, nil
	}
	z := v.Bytes()
	if !isBlob {
		z = value.CString(value.Text(v))
	}
	count := int64(value.MaxSize)
	for _, a := range args[1:] {
		if a.Kind() == record.Null {
			return record.Value{}, nil
		}
	}
	if len(args) == 3 {
		count = value.Integer(args[2])
	}
	size := func() int64 {
		if isBlob {
			return int64(len(z))
		}
		return countRunes(z)
	}
	from, count := span(value.Integer(args[1]), count, size)
	if isBlob {
		from = min(from, int64(len(z)))
		return record.OfBlob(z[from:][:min(count, int64(len(z))-from)]), nil
	}
	return record.OfText(runes(z, from, count)), nil
}

// span turns the arguments of substr into how many characters to skip, and how many to take.
func span(from, count int64, size func() int64) (skip, take int64) {
	switch {
	case from < 0:
		if from += size(); from < 0 {
			if count < 0 {
				count = 0
			} else {
				count += from
			}
			from = 0
		}
	case from > 0:
		from--
	case count > 0:
		count--
	}
	if count < 0 {
		if count < -from {
			count = from
		} else {
			count = -count
		}
		from -= count
	}
	return from, count
}

// runes returns count characters of a text, after skipping skip characters.
func runes(z []byte, skip, count int64) []byte {
	for ; len(z) > 0 && skip > 0; skip-- {
		z = skipRune(z)
	}
	rest := z
	for ; len(rest) > 0 && count > 0; count-- {
		rest = skipRune(rest)
	}
	return z[:len(z)-len(rest)]
}

// instr returns where the second argument first begins in the first, counted from 1 in characters,
// or in bytes for two BLOBs; 0 if it does not.
func instr(args []record.Value) (record.Value, error) {
	if args[0].Kind() == record.Null || args[1].Kind() == record.Null {
		return record.Value{}, nil
	}
	hay, needle := value.Text(args[0]), value.Text(args[1])
	isText := args[0].Kind() != record.Blob || args[1].Kind() != record.Blob
	at := int64(1)
	for len(needle) > 0 && !bytes.HasPrefix(hay, needle) {
		if len(hay) < len(needle) {
			return record.OfInt(0), nil
		}
		at++
		hay = hay[1:]
		for isText && len(hay) > 0 && hay[0]&0xc0 == 0x80 {
			hay = hay[1:]
		}
	}
	return record.OfInt(at), nil
}

// replace replaces each occurrence of the second argument in the first by the third.
func replace(args []record.Value) (record.Value, error) {
	if args[0].Kind() == record.Null || args[1].Kind() == record.Null {
		return record.Value{}, nil
	}
	text, old := value.Text(args[0]), value.Text(args[1])
	if len(value.CString(old)) == 0 {
		return record.OfText(text), nil
	}
	if args[2].Kind() == record.Null {
		return record.Value{}, nil
	}
	with := value.Text(args[2])
	if len(text)+bytes.Count(text, old)*(len(with)-len(old)) > value.MaxSize {
		return record.Value{}, value.ErrTooBig
	}
	return record.OfText(bytes.ReplaceAll(text, old, with)), nil
}

// trimming is trim, ltrim or rtrim.
func trimming(left, right bool) func(args []record.Value) (record.Value, error) {
	return func(args []record.Value) (record.Value, error) {
		if args[0].Kind() == record.Null {
			return record.Value{}, nil
		}
		set := [][]byte{{' '}}
		if len(args) == 2 {
			if args[1].Kind() == record.Null {
				return record.Value{}, nil
			}
			set = characters(value.CString(value.Text(args[1])))
		}
		z := value.Text(args[0])
		if left {
			z = trimWith(z, set, bytes.CutPrefix)
		}
		if right {
			z = trimWith(z, set, bytes.CutSuffix)
		}
		return record.OfText(z), nil
	}
}

// characters splits a text.
func characters(b []byte) (set [][]byte) {
	for len(b) > 0 {
		rest := skipRune(b)
		set = append(set, b[:len(b)-len(rest)])
		b = rest
	}
	return set
}

// trimWith cuts off characters of the set for as long as there are any.
func trimWith(z []byte, set [][]byte, cut func(z, c []byte) ([]byte, bool)) []byte {
	for more := true; more && len(z) > 0; {
		more = false
		for _, c := range set {
			if z, more = cut(z, c); more {
				break
			}
		}
	}
	return z
}
