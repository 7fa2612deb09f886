package store

// Info describes a volume as a whole.
type Info struct {
	Path      string
	Version   int   // of the volume's schema, on a server of its tables
	Size      int64 // of the volume's file, in bytes
	PageSize  int
	FreeBytes int64 // in the file, for content to come
	ChunkSize int   // bytes of content to a row
	LastIno   Ino   // the highest number of an inode, which tells about how many there are

	// SQLite is the version of SQLite that was the last to write the database, for example 3.51.3;
	// "" if Folio was, or if that is not known.
	SQLite string
}

// A Report lists the problems that Store.Check found.
type Report struct {
	Problems []Problem // at most MaxProblems
	Omitted  int       // how many more there are

	Nodes, Entries, Chunks, Xattrs int64 // how much was looked at
	Bytes                          int64 // of contents that are stored
}

// MaxProblems is how many problems a Report lists.
const MaxProblems = 100

// A Problem is one contradiction.
type Problem struct {
	Ino  Ino    // the inode that it concerns; 0 for the volume as a whole
	Path string // one of its paths, "." for the root; "" if it has none
	What string
}

// Add adds a problem, or counts it if there are many.
func (r *Report) Add(p Problem) {
	if len(r.Problems) == MaxProblems {
		r.Omitted++
		return
	}
	r.Problems = append(r.Problems, p)
}

// OK reports whether nothing was found.
func (r *Report) OK() bool { return len(r.Problems) == 0 }

// A Progress function is called from time to time with the bytes that are done, and with about how
// many there are.
type Progress func(done, total int64)

// CheckOptions say how Store.Check works. The zero value, and nil, are good defaults.
type CheckOptions struct {
	// Progress, if it is not nil, tells how far the first and longest part is, which looks at the
	// database below the volume. A store that cannot tell does not call it.
	Progress Progress
}
