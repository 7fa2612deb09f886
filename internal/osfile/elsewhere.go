package osfile

// Elsewhere reports whether somebody else has the file open: another File, other code of this process, or another process, be it without any
// lock. Where the system does not tell, which is everywhere but on Linux, and there for files of other users and on some network file systems,
// it is false.
func (f *File) Elsewhere() bool { return !f.closed.Load() && f.d.elsewhere() }
