package dav

// SetMaxMemory sets how much of an upload is kept in memory, and returns a function that undoes it.
func SetMaxMemory(n int) (undo func()) {
	old := maxMemory
	maxMemory = n
	return func() { maxMemory = old }
}
