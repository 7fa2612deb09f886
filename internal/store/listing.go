package store

// A Listing receives the entries of a directory. It holds no pointers to each, so that it costs the
// garbage collector nothing and can be used again: the names stand one after the other in Names.
type Listing struct {
	Names []byte
	Items []Item
}

// An Item is one entry of a Listing. Its name ends at End in Names, and starts where that of the
// item before ends.
type Item struct {
	Ino  Ino
	End  int
	Type Type
}

// Add adds an entry. It copies name.
func (l *Listing) Add(name []byte, ino Ino, typ Type) {
	l.Names = append(l.Names, name...)
	l.Items = append(l.Items, Item{Ino: ino, End: len(l.Names), Type: typ})
}

// Entries returns the entries. Their names share one allocation.
func (l *Listing) Entries() []Entry {
	entries := make([]Entry, len(l.Items))
	names, start := string(l.Names), 0
	for i, item := range l.Items {
		entries[i] = Entry{Name: names[start:item.End], Ino: item.Ino, Type: item.Type}
		start = item.End
	}
	return entries
}

// Reset empties the listing and keeps its room, unless that is large.
func (l *Listing) Reset() {
	if cap(l.Names) > maxListing {
		*l = Listing{}
		return
	}
	l.Names, l.Items = l.Names[:0], l.Items[:0]
}

// maxListing is how much room for names an empty Listing keeps.
const maxListing = 1 << 16

// EntriesOf returns the entries of a directory, sorted by name.
func EntriesOf(rx Rx, dir Ino) ([]Entry, error) {
	var l Listing
	if err := rx.List(dir, "", 0, &l); err != nil {
		return nil, err
	}
	return l.Entries(), nil
}
