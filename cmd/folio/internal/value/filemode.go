package value

import (
	"errors"
	"io/fs"
	"regexp"
	"strconv"
	"strings"

	"github.com/foliofs/folio/internal/posix"
)

// The bits of a mode that chmod changes, as POSIX counts them.
const (
	setuidBit = posix.ModeSetuid
	setgidBit = posix.ModeSetgid
	stickyBit = posix.ModeSticky
	allBits   = 0o7777

	readBits    = 0o444
	writeBits   = 0o222
	executeBits = 0o111
)

// The letters of a MODE. X counts only if a file may be executed already.
var (
	whoBits  = map[rune]uint32{'u': setuidBit | 0o700, 'g': setgidBit | 0o070, 'o': stickyBit | 0o007, 'a': allBits}
	permBits = map[rune]uint32{'r': readBits, 'w': writeBits, 'x': executeBits, 's': setuidBit | setgidBit, 't': stickyBit}
)

var errMode = errors.New("expected a number like 644, or letters like u+x,go-w")

// A ModeChange is a MODE of chmod. It applies its clauses to a mode one after the other.
type ModeChange []modeClause

// Set is the function of a flag.
func (m *ModeChange) Set(s string) (err error) {
	*m, err = ParseMode(s)
	return err
}

// A modeClause is a part of a MODE, such as u+x. If POSIX leaves a choice it does as GNU chmod.
type modeClause struct {
	op     byte   // '+', '-' or '='
	who    uint32 // the bits of the named classes; 0 means all except those of the umask
	bits   uint32 // to add, remove or set
	copies bool   // bits are those of one class, to be copied from the old mode
	ifAnyX bool   // X: execution, for a directory or a file that a class may execute
	// named are the bits that were spelled out. A directory keeps its setuid and setgid unless they
	// are.
	named uint32
}

// The clauses of a MODE, between commas: classes, operations, and a number after the last
// operation. A number needs no operation if it is all of the MODE. ParseMode compiles them, as few
// commands need them.
const (
	clauseForm = `^([ugoa]*)((?:[-+=](?:[ugo]|[rwxXst]*))*)(?:([-+=])([0-7]+))?$`
	operation  = `([-+=])([^-+=]*)`
)

// ParseMode reads an octal number, or symbolic clauses with commas between them.
func ParseMode(s string) (change ModeChange, err error) {
	if s != "" && strings.Trim(s, "01234567") == "" {
		c, ok := octalClause('=', s)
		if !ok {
			return nil, errMode
		}
		if len(s) < 5 { // it leaves the setuid and setgid of a directory
			c.named = c.bits | allBits&^(setuidBit|setgidBit)
		}
		return ModeChange{c}, nil
	}
	clause, operations := regexp.MustCompile(clauseForm), regexp.MustCompile(operation)
	for part := range strings.SplitSeq(s, ",") {
		m := clause.FindStringSubmatch(part)
		if m == nil || m[2]+m[4] == "" || m[1] != "" && m[4] != "" {
			return nil, errMode
		}
		for _, op := range operations.FindAllStringSubmatch(m[2], -1) {
			change = append(change, symbolicClause(union(whoBits, m[1]), op[1][0], op[2]))
		}
		if m[4] != "" {
			c, ok := octalClause(m[3][0], m[4])
			if !ok {
				return nil, errMode
			}
			change = append(change, c)
		}
	}
	return change, nil
}

// octalClause is the clause of a number.
func octalClause(op byte, digits string) (c modeClause, ok bool) {
	n, err := strconv.ParseUint(digits, 8, 32)
	return modeClause{op: op, who: allBits, bits: uint32(n), named: allBits}, err == nil && n <= allBits
}

// symbolicClause returns the clause for letters, for example for "g+rX": who is g, op is + and
// perms is rX.
func symbolicClause(who uint32, op byte, perms string) modeClause {
	c := modeClause{op: op, who: who, bits: union(permBits, perms), ifAnyX: strings.Contains(perms, "X")}
	if class := union(whoBits, perms); class != 0 { // u, g or o
		c.bits, c.copies = class&uint32(fs.ModePerm), true
	}
	if c.named = c.bits; who != 0 {
		c.named &= who
	}
	return c
}

// union returns the bits of all letters.
func union(bits map[rune]uint32, letters string) (all uint32) {
	for _, letter := range letters {
		all |= bits[letter]
	}
	return all
}

// Apply returns the new mode of a file with this mode. The umask limits clauses that name no class.
func (m ModeChange) Apply(mode, umask fs.FileMode) fs.FileMode {
	bits := posixBits(mode)
	for i := range m {
		bits = m[i].apply(bits, mode.IsDir(), uint32(umask))
	}
	return mode.Type() | posix.FileMode(posix.ModeRegular|bits)
}

// apply returns the mode after this clause. As with GNU chmod, a directory keeps setuid and setgid
// unless the clause names them.
func (c *modeClause) apply(mode uint32, isDir bool, umask uint32) uint32 {
	bits := c.bits
	if c.copies {
		bits = spread(mode & bits)
	}
	if c.ifAnyX && (isDir || mode&executeBits != 0) {
		bits |= executeBits
	}
	who, kept := c.who, uint32(0)
	if isDir {
		kept = (setuidBit | setgidBit) &^ c.named
	}
	if who == 0 {
		bits &^= umask
		who = allBits
	}
	bits &= who &^ kept
	switch c.op {
	case '+':
		return mode | bits
	case '-':
		return mode &^ bits
	}
	return mode&(kept|^who) | bits
}

// spread gives each class the permissions that any class has.
func spread(bits uint32) (all uint32) {
	for _, b := range []uint32{readBits, writeBits, executeBits} {
		if bits&b != 0 {
			all |= b
		}
	}
	return all
}

// posixBits are the bits of a mode that chmod changes.
func posixBits(mode fs.FileMode) uint32 {
	m, _ := posix.Mode(mode)
	return m & allBits
}
