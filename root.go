package folio

// A Root is a directory of a volume that no name leads out of, neither by ".." nor by a symbolic
// link. Names begin in that directory. It stays the same directory when it is moved. A Root has the
// methods of os.Root, and is safe for concurrent use.
type Root struct {
	reader
	writer
	rootState
	dir *File
}

// OpenRoot opens a directory as a Root.
func (v *Volume) OpenRoot(name string) (*Root, error) { return openRoot(&v.reader, name, name) }

// OpenRoot opens a directory in r as a Root.
func (v *Root) OpenRoot(name string) (*Root, error) {
	return openRoot(&v.reader, name, joinName(v.name, name))
}

func openRoot(from *reader, name, full string) (*Root, error) {
	dir, err := from.Open(name)
	if err != nil {
		return nil, err
	}
	if !dir.isDir() {
		_ = dir.Close()
		return nil, pathError("open", full, ErrNotDirectory)
	}
	r := &Root{rootState: rootState{name: full}, dir: dir}
	r.reader = reader{fs: from.fs, top: dir.ino, root: &r.rootState}
	r.writer = writer{from: &r.reader}
	return r, nil
}

// Open opens a file for reading, or a directory.
func (v *Root) Open(name string) (*File, error) { return v.OpenFile(name, 0, 0) }

// Name returns the name that the directory was opened by, with those of the Roots that it was
// opened in.
func (v *Root) Name() string { return v.name }

// Close closes the directory. Files that were opened in it stay open. As with os.Root, closing
// again is no error.
func (v *Root) Close() error {
	if v.closed.Swap(true) {
		return nil
	}
	return v.dir.Close()
}
