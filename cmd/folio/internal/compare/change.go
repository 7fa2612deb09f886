package compare

import (
	"fmt"
	"slices"
	"strings"
)

// A Change says how a file of the second tree differs from the first one. It is about names in any
// two trees, where a folio.Change is about inodes in two states of one volume.
type Change struct {
	Kind       Kind
	Path       string
	Attributes Attributes // the attributes that differ; not zero if Kind includes Described
	// Old and New are the file in the first and in the second tree; nil if it is in one of them
	// only. If it was moved, the path of Old is its old one.
	Old, New *File
	// WithDir says that a file was moved because its directory was, or one above that.
	WithDir bool
}

// A Kind is a set of ways in which a file can differ. Added, Removed and Retyped stand alone.
type Kind uint8

// The kinds, in the order of their letters.
const (
	Moved     Kind = 1 << iota // it has another name; known of files of one volume only
	Added                      // only the second tree has it
	Removed                    // only the first tree has it
	Retyped                    // it is another type of file
	Modified                   // its content, target or device number
	Described                  // its attributes
)

var kindNames = []struct {
	kind   Kind
	letter byte
	word   string
}{
	{Moved, 'R', "moved"},
	{Added, 'A', "added"},
	{Removed, 'D', "removed"},
	{Retyped, 'T', "type"},
	{Modified, 'M', "content"},
	{Described, 'P', "attributes"},
}

// Letters returns a letter for each kind in the set.
func (k Kind) Letters() string {
	var b strings.Builder
	for _, n := range kindNames {
		if k&n.kind != 0 {
			b.WriteByte(n.letter)
		}
	}
	return b.String()
}

// Words returns a word for each kind in the set.
func (k Kind) Words() (list []string) {
	for _, n := range kindNames {
		if k&n.kind != 0 {
			list = append(list, n.word)
		}
	}
	return list
}

// Attributes is a set of attributes, and a flag that names them.
type Attributes uint8

const (
	Mode Attributes = 1 << iota
	Owner
	Times // of the last change of the content
	Xattrs

	All = Mode | Owner | Times | Xattrs
)

// An attributeName is the word for an attribute.
type attributeName struct {
	attribute Attributes
	word      string
}

var attributeNames = []attributeName{
	{Mode, "mode"},
	{Owner, "owner"},
	{Times, "times"},
	{Xattrs, "xattrs"},
}

// Words returns a word for each attribute in the set.
func (a Attributes) Words() (list []string) {
	for _, n := range attributeNames {
		if a&n.attribute != 0 {
			list = append(list, n.word)
		}
	}
	return list
}

// Set is the function of a flag: words separated by commas, "all" or "none".
func (a *Attributes) Set(s string) error {
	var set Attributes
	for word := range strings.SplitSeq(s, ",") {
		switch i := slices.IndexFunc(attributeNames, func(n attributeName) bool { return n.word == word }); {
		case i >= 0:
			set |= attributeNames[i].attribute
		case s == "all":
			set = All
		case s != "none":
			return fmt.Errorf("%q is no attribute: mode, owner, times and xattrs are, with commas, or all, or none", word)
		}
	}
	*a = set
	return nil
}
