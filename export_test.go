package folio

// Changing reports whether a change of the file is under way, which may be waiting for its turn.
func (f *File) Changing() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.changes > 0
}

// ErrEmptyPath is the error of an empty name.
var ErrEmptyPath = errEmptyPath
