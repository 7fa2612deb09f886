package pgstore

// odds tell whether a guess is worth a trip. The more guesses in a row were wrong, the fewer are
// made.
type odds struct {
	wrong int // guesses in a row that the server has refused
	skip  int // that are not to be made
}

// maxWrong limits how many guesses are left out for each that is made to 64.
const maxWrong = 6

// pays reports whether a guess should be made.
func (o *odds) pays() bool {
	if o.skip > 0 {
		o.skip--
		return false
	}
	return true
}

// note notes how a guess was.
func (o *odds) note(right bool) {
	if right {
		o.wrong = 0
		return
	}
	o.skip = 1 << min(o.wrong, maxWrong)
	o.wrong++
}

// pause leaves some guesses out.
func (o *odds) pause() { o.skip = 1 << maxWrong }
