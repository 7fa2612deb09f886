package billyfs

import "sync"

// locks says which files are locked by whom, in an FS and all that Chroot made of it.
type locks struct {
	mu    sync.Mutex // guards the fields below
	freed sync.Cond  // something was unlocked
	by    map[uint64]*file
	of    map[*file]uint64 // the same, the other way round
}

func newLocks() *locks {
	l := &locks{by: make(map[uint64]*file), of: make(map[*file]uint64)}
	l.freed.L = &l.mu
	return l
}

// lock locks an inode for f, once no other file has it locked.
func (l *locks) lock(f *file, ino uint64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for l.by[ino] != nil && l.by[ino] != f {
		l.freed.Wait()
	}
	l.by[ino], l.of[f] = f, ino
}

// unlock takes the lock of f, if it has one.
func (l *locks) unlock(f *file) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if ino, ok := l.of[f]; ok {
		delete(l.by, ino)
		delete(l.of, f)
		l.freed.Broadcast()
	}
}
