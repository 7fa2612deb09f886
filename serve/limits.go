package serve

import "time"

// Limits of connections.
const (
	maxConnections = 4096
	maxStreams     = 100      // requests at once on a connection of HTTP/2
	maxHeader      = 64 << 10 // bytes
	headerTime     = 10 * time.Second
	stopTime       = 10 * time.Second // that requests under way have when the server ends
)

// smallFile is how many bytes a file has at most that is read as a whole, in the view that finds
// it.
const smallFile = 64 << 10

// wholeFile is smallFile for a volume on a server.
const wholeFile = 1 << 20

// idleTime is how long a connection is kept after an answer.
var idleTime = time.Minute // tests set it

// oneAddress is how many connections one address has at most, and requests at once. So a
// single address can take a quarter of all connections.
var oneAddress = maxConnections / 4 // tests set it

// Limits on records that the volume keeps for clients: these fill it even without contents. Tests
// set them.
var (
	maxOpenUploads = 100    // that are not complete, of one user or by one link
	maxLinkNames   = 10_000 // that uploads by one link make
	maxUserLinks   = 1000   // of one user
)

// Limits of a responseCache.
const (
	responseCacheSize = 24 << 20 // bytes of entries, in two generations
	maxCachedRequest  = 2 << 10  // bytes of a request
	maxCachedHead     = 2 << 10  // bytes of the headers of an answer
)
