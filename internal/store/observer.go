package store

// Changes name the inodes and names that may have changed in a volume. Changes is conservative: it
// includes everything that changed, and may include unchanged neighbors.
type Changes struct {
	All      bool // anything may have changed; the rest is empty
	Nodes    []InoSpan
	Entries  []EntrySpan
	Contents []InoSpan
	Pages    []uint32 // content in these pages, as ContentPages tells them
}

// None reports whether nothing has changed.
func (c *Changes) None() bool {
	return !c.All && len(c.Nodes)+len(c.Entries)+len(c.Contents)+len(c.Pages) == 0
}

// An InoSpan is a range of inodes, both ends included.
type InoSpan struct{ First, Last Ino }

// An EntrySpan is a range of entries, from Low to High, both included.
type EntrySpan struct {
	Low, High EntryKey
	Wide      bool // the range is long, and it is unlikely that anything in it has changed
}

// An EntryKey is the place of an entry in the order of all entries: by directory, then by the bytes
// of the name.
type EntryKey struct {
	Dir  Ino
	Name string
}

// Less reports whether k comes before other.
func (k EntryKey) Less(other EntryKey) bool {
	if k.Dir != other.Dir {
		return k.Dir < other.Dir
	}
	return k.Name < other.Name
}
