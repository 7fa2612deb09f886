package osfile

// Elsewhere reports whether the file is also open through another File, in other code of this
// process, or in another process, with or without a lock. It returns false if the system cannot
// tell. Only Linux can, and not for files of other users or on some network file systems.
func (f *File) Elsewhere() bool { return !f.closed.Load() && f.d.elsewhere() }
