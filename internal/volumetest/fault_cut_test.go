package volumetest

import (
	"errors"
	"fmt"
	"os"

	"github.com/foliofs/folio"
)

// faultCuts are how much another process leaves of a file. All are whole pages of memory: of a
// page that ends in the middle of one, a map shows zeros for the rest.
var faultCuts = []struct {
	name string
	of   func(size int64) int64
}{
	{"nothing", func(int64) int64 { return 0 }},
	{"half", func(size int64) int64 { return size / 2 &^ int64(os.Getpagesize()-1) }},
	{"one page less", func(size int64) int64 { return (size - 1) &^ int64(os.Getpagesize()-1) }},
}

// faultMoments are the moments at which a file is cut off.
var faultMoments = []int{before, halfWay, atOperation, atOperation + 1, atOperation + 3, atOperation + 8, atOperation + 20}

// cutFault returns the fault that cuts off the files of a volume, in each way and at each moment.
// Each call meets some of them, and all with -fault.stride 1.
func cutFaults() []*fault {
	var list []*fault
	for _, plain := range []bool{false, true} {
		for _, suffix := range []string{"", "-wal", "-shm"} {
			for _, cut := range faultCuts {
				for _, moment := range faultMoments {
					list = append(list, &fault{
						name:    fmt.Sprintf("%s is left of %q at moment %d, plain %v", cut.name, suffix, moment, plain),
						options: folio.Options{NoMmap: plain},
						moment:  moment,
						spares:  true,
						happen:  func(s *faultScene) { cutFile(s.path+suffix, cut.of) },
						judged:  judgeCut,
					})
				}
			}
		}
	}
	return list
}

// cutFile cuts a file off, if it is there.
func cutFile(name string, of func(size int64) int64) {
	if info, err := os.Stat(name); err == nil {
		_ = os.Truncate(name, min(info.Size(), of(info.Size())))
	}
}

// judgeCut refuses the errors that name another cause.
func judgeCut(err error) error {
	for _, other := range []error{folio.ErrBusy, folio.ErrFull, folio.ErrReadOnly} {
		if errors.Is(err, other) {
			return fmt.Errorf("not the cause: %w", err)
		}
	}
	return nil
}
