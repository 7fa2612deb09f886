package crashfs

import (
	"errors"
	"sync"
)

// regionSize is how much of a file can be mapped, in bytes. Memory is taken only for the parts that
// are used.
const regionSize = 64 << 20

var errTooLarge = errors.New("crashfs: a mapped file is too large")

// spare holds regions that are not in use, all zeros: a fresh one would be cleared as a whole by
// the allocator.
var spare struct {
	mu      sync.Mutex // guards regions
	regions [][]uint32
}

func takeRegion() []uint32 {
	spare.mu.Lock()
	defer spare.mu.Unlock()
	n := len(spare.regions)
	if n == 0 {
		return make([]uint32, regionSize/4)
	}
	region := spare.regions[n-1]
	spare.regions = spare.regions[:n-1]
	return region
}

// giveRegion takes a region back of which no more than the first used bytes were written.
func giveRegion(region []uint32, used int64) {
	clear(region[:(used+3)/4])
	spare.mu.Lock()
	defer spare.mu.Unlock()
	spare.regions = append(spare.regions, region)
}
