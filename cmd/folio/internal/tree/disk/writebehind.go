package disk

// A writeBehind writes a file piece by piece. It writes a piece while its caller reads the next
// one.
type writeBehind struct {
	writeAt func(p []byte, off int64) error
	pieces  *[2][]byte
	next    int        // which of the pieces the caller fills next
	busy    chan error // gets the error of the write that is under way; nil if there is none
}

// piece returns bytes for the caller to fill. All pieces of a file have the same size.
func (b *writeBehind) piece(size int) []byte {
	p := &b.pieces[b.next]
	if *p == nil {
		*p = make([]byte, size)
	}
	return *p
}

// write begins to write p, which is from piece. The error may be that of the piece before.
func (b *writeBehind) write(p []byte, off int64) error {
	if err := b.wait(); err != nil {
		return err
	}
	busy := make(chan error, 1)
	go func() { busy <- b.writeAt(p, off) }()
	b.busy, b.next = busy, 1-b.next
	return nil
}

// wait waits until no write is under way, and returns the error of the last one.
func (b *writeBehind) wait() (err error) {
	if b.busy != nil {
		err = <-b.busy
		b.busy = nil
	}
	return err
}
