package store

// A Gatherer is a Store that carries out small changes of many goroutines together.
//
// It is an interface of its own because a Store need not be one: Update does the same, for one change at a time.
type Gatherer interface {
	// Gather does what Update does, but fn may share its transaction with what others gathered, before it and after it, and be called by
	// another goroutine. It is called once more, in a transaction of its own, where the common one had to be given up: what it leaves outside
	// of tx must not add up. It must be short, and wait for nobody.
	Gather(fn func(tx Tx) error) error
}
