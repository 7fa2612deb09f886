package serve

import "time"

// Limits of connections.
const (
	maxConnections = 4096
	maxHeader      = 64 << 10 // bytes
	headerTime     = 10 * time.Second
	idleTime       = 2 * time.Minute
	stopTime       = 10 * time.Second // that requests under way have when the server ends
)

// smallFile is how many bytes a file has at most that is read as a whole, in the view that finds
// it.
const smallFile = 64 << 10

// Limits of a lane.
const (
	laneSize    = 24 << 20 // bytes of entries, in two generations
	maxLaneKey  = 2 << 10  // bytes of a request
	maxLaneHead = 2 << 10  // bytes of the headers of an answer
)
