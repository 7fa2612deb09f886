package crashfs

import "maps"

// Fork returns the file system as it was after the given number of operations. It is the state that
// the next process finds when all processes die. The power can still fail on it as if all had
// happened on it: changes that were not synced then are not on disk yet.
func (h *History) Fork(at int, options ...Option) *FS {
	f := (&Image{}).FS(options...)
	f.base = h.base
	twins := make(map[*inode]*inode)
	twin := func(i *inode) *inode {
		if i != nil && twins[i] == nil {
			twins[i] = f.newInode(nil)
			twins[i].volatile = h.words[i]
		}
		return twins[i]
	}
	for name, i := range h.first {
		twin(i).data = h.base.files[name]
		f.names[name] = twin(i)
	}
	f.first = maps.Clone(f.names)
	for _, op := range h.ops[:at] {
		op.inode = twin(op.inode)
		op.words = retwin(op.words, twin)
		f.ops = append(f.ops, op)
		f.redo(op)
	}
	return f
}

func retwin(list []words, twin func(*inode) *inode) (changed []words) {
	for _, w := range list {
		changed = append(changed, words{twin(w.inode), w.data})
	}
	return changed
}

// redo does an operation to the files.
func (f *FS) redo(op Op) {
	for _, w := range op.words {
		w.inode.data, w.inode.own, w.inode.last = regionBytes(w.data), false, w.data
	}
	switch op.Kind {
	case Write:
		_ = op.inode.writeAt(op.data, op.Off) // no inode is mapped
	case Truncate:
		_ = op.inode.resize(op.N)
	case Punch:
		_ = op.inode.punch(op.Off, op.N)
	case Create, Remove, Rename:
		m := move{kind: op.Kind, name: op.Name, to: op.To, inode: op.inode}
		m.apply(f.names)
	}
}
