package folio

// SetMaxLinks sets how many symbolic links may be on the way to a file, and returns how many it was.
func SetMaxLinks(n int) (old int) {
	old, maxLinks = maxLinks, n
	return old
}
