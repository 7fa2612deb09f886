package value

import (
	"errors"
	"io/fs"
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

// A ModeChange is a MODE of chmod. It applies its clauses to a mode one after the other.
type ModeChange []modeClause

// Set is the function of a flag.
func (m *ModeChange) Set(s string) (err error) {
	*m, err = ParseMode(s)
	return err
}

// A modeClause is a part of a MODE, such as u+x. Where POSIX leaves a choice it does as GNU chmod.
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

// ParseMode reads an octal number, or symbolic clauses with commas between them.
func ParseMode(s string) (ModeChange, error) {
	if s != "" && strings.Trim(s, "01234567") == "" {
		return parseOctal(s)
	}
	var change ModeChange
	for part := range strings.SplitSeq(s, ",") {
		i := strings.IndexAny(part, "+-=")
		if i < 0 {
			return nil, errMode
		}
		who, ok := parseWho(part[:i])
		for rest := part[i:]; ok && rest != ""; {
			var c modeClause
			if c, rest, ok = parseClause(who, rest); ok {
				change = append(change, c)
			}
		}
		if !ok {
			return nil, errMode
		}
	}
	return change, nil
}

var errMode = errors.New("expected a number like 644, or letters like u+x,go-w")

func parseOctal(s string) (ModeChange, error) {
	n, err := strconv.ParseUint(s, 8, 32)
	if err != nil || n > allBits {
		return nil, errMode
	}
	c := modeClause{op: '=', who: allBits, bits: uint32(n), named: allBits}
	if len(s) < 5 {
		c.named = uint32(n)&(setuidBit|setgidBit) | stickyBit | uint32(fs.ModePerm)
	}
	return ModeChange{c}, nil
}

// class returns the permissions of u, g or o.
func class(letter byte) (bits uint32) {
	if i := strings.IndexByte("ogu", letter); i >= 0 {
		bits = 0o7 << (3 * i)
	}
	return bits
}

func parseWho(s string) (who uint32, ok bool) {
	for i := range len(s) {
		switch s[i] {
		case 'u':
			who |= setuidBit
		case 'g':
			who |= setgidBit
		case 'o':
			who |= stickyBit
		case 'a':
			who |= allBits
		default:
			return 0, false
		}
		who |= class(s[i])
	}
	return who, true
}

// parseClause reads an operation and its permissions. It returns the rest of s.
func parseClause(who uint32, s string) (c modeClause, rest string, ok bool) {
	c = modeClause{op: s[0], who: who}
	end := len(s)
	if i := strings.IndexAny(s[1:], "+-="); i >= 0 {
		end = 1 + i
	}
	perms, rest := s[1:end], s[end:]
	switch {
	case perms != "" && strings.Trim(perms, "01234567") == "":
		n, err := strconv.ParseUint(perms, 8, 32)
		c.who, c.bits, c.named = allBits, uint32(n), allBits
		return c, rest, err == nil && n <= allBits && who == 0 && rest == ""
	case len(perms) == 1 && class(perms[0]) != 0:
		c.bits, c.copies = class(perms[0]), true
	default:
		ok = c.parseLetters(perms)
		if !ok {
			return c, rest, false
		}
	}
	if c.named = c.bits; who != 0 {
		c.named &= who
	}
	return c, rest, true
}

func (c *modeClause) parseLetters(perms string) bool {
	for i := range len(perms) {
		switch perms[i] {
		case 'r':
			c.bits |= readBits
		case 'w':
			c.bits |= writeBits
		case 'x':
			c.bits |= executeBits
		case 'X':
			c.ifAnyX = true
		case 's':
			c.bits |= setuidBit | setgidBit
		case 't':
			c.bits |= stickyBit
		default:
			return false
		}
	}
	return true
}

// Apply returns the new mode of a file with this mode. The umask limits clauses that name no class.
func (m ModeChange) Apply(mode, umask fs.FileMode) fs.FileMode {
	bits := posixBits(mode)
	for i := range m {
		bits = m[i].apply(bits, mode.IsDir(), uint32(umask))
	}
	return mode.Type() | posix.FileMode(posix.ModeRegular|bits)
}

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
