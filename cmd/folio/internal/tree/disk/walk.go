package disk

import (
	"io/fs"
	"path/filepath"
	"slices"

	"github.com/foliofs/folio"
	"github.com/foliofs/folio/cmd/folio/internal/tree"
)

// A walker lists a tree, depth first, and adds each file to the pipeline.
type walker struct {
	*tree.Pipeline
	o     *tree.Options
	seen  map[tree.FileID]string // files with several links, by the name they had first
	stack []frame                // the directories from the root to the current one
}

// A frame is one directory that is being walked.
type frame struct {
	dir   *dirHandle // nil while it is closed
	id    tree.FileID
	path  string // "." for the root
	names []string
}

// finish walks the files in the directories that were entered.
func (w *walker) finish() error {
	for len(w.stack) > 0 {
		top := &w.stack[len(w.stack)-1]
		if len(top.names) == 0 {
			if err := w.leave(); err != nil {
				return err
			}
			continue
		}
		name := top.names[0]
		top.names = top.names[1:]
		if err := w.visit(top, name); err != nil {
			return err
		}
	}
	return nil
}

// enter adds a directory, lists it and makes it the current one. It owns dir.
func (w *walker) enter(dir *dirHandle, path string, st *fileStat) error {
	e := st.entry(path)
	names, err := dir.list()
	if err == nil {
		e.Xattrs, err = dir.xattrs()
	}
	if err = w.o.PassOver(path, err); err == nil {
		err = w.Add(e, nil)
	}
	if err != nil {
		dir.release()
		return tree.WrapEntry(path, err)
	}
	slices.Sort(names)
	w.stack = append(w.stack, frame{dir: dir, id: st.id, path: path, names: names})
	if i := len(w.stack) - 1 - openAncestors; i >= 0 {
		w.stack[i].close()
	}
	return nil
}

// leave goes back to the directory above the current one, and opens it again if need be.
func (w *walker) leave() error {
	top := w.stack[len(w.stack)-1]
	w.stack = w.stack[:len(w.stack)-1]
	defer top.close()
	if len(w.stack) == 0 {
		return nil
	}
	up := &w.stack[len(w.stack)-1]
	if up.dir != nil {
		return nil
	}
	dir, st, err := top.dir.openDir("..")
	if err == nil && st.id != up.id {
		dir.release()
		err = tree.ErrChanged
	}
	if err != nil {
		return tree.WrapEntry(up.path, err)
	}
	up.dir = dir
	return nil
}

func (f *frame) close() {
	if f.dir != nil {
		f.dir.release()
		f.dir = nil
	}
}

func (w *walker) close() {
	for i := range w.stack {
		w.stack[i].close()
	}
}

// visit adds one file of the current directory.
func (w *walker) visit(top *frame, name string) error {
	path := tree.Join(top.path, name)
	if w.o.Skip != nil && w.o.Skip(top.id, name) {
		return nil
	}
	st, err := top.dir.lstat(name)
	if err != nil {
		return tree.WrapEntry(path, w.o.PassOver(path, changed(err)))
	}
	if w.o.Exclude.File(path, st.mode.IsDir()) {
		return nil
	}
	return tree.WrapEntry(path, w.o.PassOver(path, w.visitFile(top.dir, name, path, &st)))
}

func (w *walker) visitFile(dir *dirHandle, name, path string, st *fileStat) error {
	if st.mode.IsDir() {
		sub, now, err := dir.openDir(name)
		if err != nil {
			return w.closed(path, st, changed(err))
		}
		return w.enter(sub, path, &now)
	}
	if st.mode&fs.ModeSocket != 0 {
		w.o.LeftOut(path, "a socket")
		return nil
	}
	if st.links > 1 && !w.o.Copies {
		if first, ok := w.seen[st.id]; ok {
			return w.Add(&tree.Entry{Header: folio.Header{Name: path}, Link: first}, nil)
		}
		w.seen[st.id] = path
	}
	e := st.entry(path)
	switch st.mode.Type() {
	case 0:
		e.Size = st.size
		return w.addFile(dir, name, e, st)
	case fs.ModeSymlink:
		target, err := dir.readlink(name, st.size)
		if err != nil {
			return changed(err)
		}
		e.Linkname = target
	}
	return w.Add(e, nil)
}

// closed adds a directory that cannot be read, without the files in it.
func (w *walker) closed(path string, st *fileStat, err error) error {
	if err := w.o.PassOver(path, err); err != nil {
		return err
	}
	return w.Add(st.entry(path), nil)
}

// addFile adds a regular file, whose content a worker will read.
func (w *walker) addFile(dir *dirHandle, name string, e *tree.Entry, st *fileStat) error {
	f := &diskFile{dir: dir.retain(), name: name, stat: *st}
	if e.Size > tree.SmallSize {
		var err error
		if e.Xattrs, err = f.readXattrs(); err != nil {
			f.dir.release()
			return err
		}
	}
	err := w.Add(e, f)
	if err != nil {
		f.dir.release()
	}
	return err
}

// A diskFile is the content of a regular file, to be opened when its turn comes. It holds its
// directory.
type diskFile struct {
	dir  *dirHandle
	name string
	stat fileStat
}

func (f *diskFile) Fill(e *tree.Entry, p []byte) error {
	defer f.dir.release()
	file, err := f.dir.open(f.name)
	if err != nil {
		return changed(err)
	}
	defer file.close()
	if err := tree.ReadFull(file, p); err != nil {
		return err
	}
	if e.Xattrs, err = file.xattrs(); err != nil {
		return err
	}
	return f.unchanged(file)
}

// unchanged checks, after the content was read, that it is the one of the file that was listed.
func (f *diskFile) unchanged(file *fileHandle) error {
	now, err := file.stat()
	if err == nil && !now.sameContent(&f.stat) {
		err = tree.ErrChanged
	}
	return err
}

func (f *diskFile) Feed(s *tree.Stream) error {
	defer f.dir.release()
	file, err := f.dir.open(f.name)
	if err != nil {
		return changed(err)
	}
	defer file.close()
	if f.stat.sparse {
		err = feedSparse(s, file, f.stat.size)
	} else {
		err = s.CopyAll(file, f.stat.size)
	}
	if err != nil {
		return err
	}
	return f.unchanged(file)
}

func (f *diskFile) Drop() { f.dir.release() }

func (f *diskFile) readXattrs() (map[string][]byte, error) {
	file, err := f.dir.open(f.name)
	if err != nil {
		return nil, changed(err)
	}
	defer file.close()
	return file.xattrs()
}

// ParentID identifies the directory that a file lies in, for Options.Skip.
func ParentID(path string) (tree.FileID, error) {
	dir, err := openRoot(filepath.Dir(path))
	if err != nil {
		return tree.FileID{}, err
	}
	defer dir.release()
	st, err := dir.stat()
	return st.id, err
}
