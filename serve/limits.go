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
