package store

// A Batcher is a Store that carries out small changes of many goroutines together.
//
// It is an interface of its own because a Store need not be one: Update does the same, for one
// change at a time.
type Batcher interface {
	// Batch does the same as Update, but fn may share its transaction with the functions of other
	// calls. They may run before fn and after it, and fn may run on the goroutine of another
	// caller. If the common transaction must be rolled back, fn runs once more, in a transaction of
	// its own. So fn must not add up results outside tx, must be short, and must not wait for
	// another goroutine.
	Batch(fn func(tx Tx) error) error
}
