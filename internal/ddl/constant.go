package ddl

import (
	"encoding/hex"
	"math"
	"strings"
)

// An evaluator computes the value of a DEFAULT, if that is made of literals, signs, parentheses and
// CAST. It stops, and the default stays text, at anything else and where the result would depend on
// the encoding of the database or on how SQLite prints a number.
type evaluator struct {
	parser
	casts  int  // around this one
	insert bool // for an insertion, rather than for a row that is older than the column
}

// maxCasts bounds the work for CAST within CAST, each of which is read twice.
const maxCasts = 10

// evaluate returns the value of a text that has been parsed before, so that its nesting is bounded.
func evaluate(text string, a Affinity, insert bool) (v Default, ok bool) {
	e := evaluator{parser: parser{cursor: cursor{sql: text}}, insert: insert}
	e.read(0, tokEnd)
	k := e.tok.kind
	if (k.isID() || k == kwIndexed) && k != kwCurrentTime && e.second() == tokEnd {
		return e.identifier(a), true
	}
	v, ok = e.value(a, false)
	return v, ok && e.tok.kind == tokEnd
}

// identifier reads a default that is one word: TRUE, FALSE or, whatever else it is, a string (Q13).
func (e *evaluator) identifier(a Affinity) Default {
	word := e.text(e.next())
	if isTruth(word) {
		return truth(word, a)
	}
	return stringConstant(Unquote(word), a)
}

func truth(word string, a Affinity) Default {
	v := Default{Kind: DefaultInteger}
	if EqualFold(word, "true") {
		v.Int = 1
	}
	v.apply(a)
	return v
}

func stringConstant(s string, a Affinity) Default {
	v := Default{Kind: DefaultText, Text: s}
	v.apply(a)
	return v
}

// value reads signs and an operand. SQLite gives each step the affinity, and takes a minus directly
// before a number, or before parentheses around it, for a part of the number; negative says that
// such a minus came before.
func (e *evaluator) value(a Affinity, negative bool) (v Default, ok bool) {
	negations := 0
	for e.tok.kind == tokPlus || e.tok.kind == tokMinus {
		if negative {
			negations++
		}
		negative = e.next().kind == tokMinus
	}
	v, ok = e.operand(a, negative)
	for i := 0; ok && i < negations; i++ {
		ok = e.negate(&v, a)
	}
	return v, ok
}

// negate applies a minus that is not part of a literal. An insertion subtracts from zero; the other
// minus reads a number out of a text first, and is not ours to tell for an insertion.
func (e *evaluator) negate(v *Default, a Affinity) bool {
	if e.insert {
		return v.subtract()
	}
	return v.negate(a)
}

// operand reads a literal, a parenthesis or a CAST and applies the minus before it.
func (e *evaluator) operand(a Affinity, negative bool) (v Default, ok bool) {
	t := e.next()
	text := e.text(t)
	switch t.kind {
	case tokLP:
		v, ok = e.value(a, negative)
		return v, ok && e.accept(tokRP)
	case tokInteger, tokFloat, tokQNumber:
		return e.number(text, a, negative)
	case tokString:
		v = stringConstant(Unquote(text), a)
	case tokBlob:
		b, err := hex.DecodeString(text[2 : len(text)-1])
		if err != nil {
			return v, false
		}
		v = Default{Kind: DefaultBlob, Text: string(b)}
	case kwNull, tokVariable: // old versions let a parameter into a schema, as NULL
		v = Default{Kind: DefaultNull}
	case kwCast:
		v, ok = e.cast(a)
		if !ok {
			return v, false
		}
	default:
		if !isTruth(text) {
			return v, false
		}
		v = truth(text, a)
	}
	return v, !negative || e.negate(&v, a)
}

// cast reads the rest of CAST ( value AS type ).
func (e *evaluator) cast(a Affinity) (v Default, ok bool) {
	e.next()
	inner := e.tok
	depth := e.skipTo(kwAs)
	e.next()
	declared, err := e.typeName()
	if err != nil || depth != 0 || e.casts == maxCasts {
		return v, false
	}
	to := scanAffinity(Unquote(declared))
	sub := evaluator{parser{cursor: cursor{sql: e.sql[:e.end], tok: inner}}, e.casts + 1, e.insert}
	within := to
	if e.insert {
		within = AffinityBlob
	}
	if v, ok = sub.value(within, false); !ok || sub.tok.kind != kwAs || !v.cast(to) {
		return v, false
	}
	return v, v.apply(a) && e.accept(tokRP)
}

// skipTo consumes tokens up to one of the kind outside parentheses, or the end.
func (e *evaluator) skipTo(kind tokenKind) (depth int) {
	for e.tok.kind != tokEnd && (depth > 0 || e.tok.kind != kind) {
		switch e.next().kind {
		case tokLP:
			depth++
		case tokRP:
			depth--
		}
	}
	return depth
}

// number reads a numeric literal. With an affinity that is not Blob it counts as text to begin with
// (Q13).
func (e *evaluator) number(text string, a Affinity, negative bool) (v Default, ok bool) {
	text = strings.ReplaceAll(text, "_", "")
	if isHexNumber(text) {
		v = hexadecimal(text)
		if e.insert && (v.Kind != DefaultInteger || negative && v.Int == math.MinInt64) {
			return v, false // SQLite refuses the insertion: hex literal too big
		}
		v.apply(a)
		return v, !negative || e.negate(&v, a)
	}
	isInteger := strings.Trim(text, "0123456789") == ""
	if negative {
		text = "-" + text
	}
	v = Default{Kind: DefaultText, Text: text}
	if i, ok := parseInteger(text); isInteger && ok {
		v.setInteger(i)
		v.apply(a)
		return v, true
	}
	switch {
	case a != AffinityBlob:
		v.apply(a)
	case isInteger:
		v.apply(AffinityNumeric)
	default:
		v.setReal(numberPrefix(text).real())
	}
	return v, true
}

// hexadecimal returns the 64 bits that the literal spells. SQLite keeps a longer one as text.
func hexadecimal(text string) Default {
	digits := strings.TrimLeft(text[2:], "0")
	if len(digits) > 16 {
		return Default{Kind: DefaultText, Text: text}
	}
	var u uint64
	for i := range len(digits) {
		u = u<<4 | uint64(hexValue(digits[i]))
	}
	return Default{Kind: DefaultInteger, Int: int64(u)}
}

func hexValue(c byte) byte {
	if isDigit(c) {
		return c - '0'
	}
	return c | 0x20 - 'a' + 10
}

// validQNumber reports whether every underscore of a number stands between two digits.
func validQNumber(s string) bool {
	digit := isDigit
	if isHexNumber(s) {
		digit = isHex
	}
	for i := range len(s) {
		if s[i] == '_' && (i == 0 || i+1 == len(s) || !digit(s[i-1]) || !digit(s[i+1])) {
			return false
		}
	}
	return true
}

// settle turns a constant into a value with the affinity of the column.
func (d *Default) settle(a Affinity) {
	if d.Kind != DefaultExpr {
		return
	}
	v, ok := evaluate(d.Expr, a, false)
	if !ok {
		return
	}
	if a == AffinityReal && v.Kind == DefaultInteger {
		v.setReal(float64(v.Int))
	}
	v.Expr = d.Expr
	*d = v
}

// Inserted returns the value of a row that is inserted without the column, before the affinity of
// the column is applied. It differs from d, which is for rows that are older than the column: for
// example, DEFAULT 1e3 of a TEXT column is '1000.0' in a new row and '1e3' in an old one. ok
// reports whether the default is a constant and its value is known.
func (d *Default) Inserted() (v Default, ok bool) {
	if d.Kind == DefaultNone {
		return *d, true
	}
	if v, ok = evaluate(d.Expr, AffinityBlob, true); ok {
		v.Expr = d.Expr
	}
	return v, ok
}
