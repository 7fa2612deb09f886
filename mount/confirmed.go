//go:build linux && !386 && !arm && !mips && !mipsle

package mount

import (
	"maps"
	"sync"
	"time"

	"github.com/foliofs/folio/internal/store"
)

// If the kernel may keep no answer, it makes several requests of one system call. For rename(2) it
// asks for the attributes of both directories, looks up both names, asks for the attributes again,
// and only then sends RENAME. Each of these requests would take a round trip to the server.
//
// But an answer that the server has given since the system call began is as new as the program can
// ask for. So the daemon keeps what the server has confirmed for a thread, until the thread makes
// another system call. With the first request it reads ahead the names of the path, which it finds
// in the memory of the program.
//
// The daemon knows a system call by its line in /proc. A program may make the same call again, at
// the same place with the same arguments. So
//
//	C1  an answer serves one request, and for a moment only;
//	C2  what is read ahead counts until the kernel asks for the attributes of another inode, as it
//	    does at the beginning of each path;
//	C3  the attributes of a directory serve once more only if the system call is about to make or
//	    remove a name, and so tells no attributes to the program, and if they allow the caller
//	    that. A LOOKUP that follows confirms them, or is ESTALE: the kernel then begins again.
type confirmed struct {
	mu      sync.Mutex // guards threads
	threads map[uint32]facts
}

// facts are what the server has confirmed for one thread.
type facts struct {
	at    time.Time // when the last of them was confirmed, or has served
	clock uint64    // the time of the clock of extents, before the server was asked
	call  string    // the system call: its line in /proc
	kind  callKind

	ahead []lookedUp // names of the path, for LOOKUP
	child store.Node // the last name has led there; the inode is 0 if it has served, or is none
	dir   store.Node // the directory of that name
	uses  int        // how often dir may serve
	told  rightsOf   // of a directory, by such a use

	opened  store.Ino // the file that the thread has opened last, and has not read
	content *content  // the whole content of that file, for READ
}

// A lookedUp is the result of a LOOKUP.
type lookedUp struct {
	dir  store.Node
	name string
	n    store.Node // its inode is 0 if nothing has that name
}

// rightsOf are the rights of a directory, as a request was told them.
type rightsOf struct {
	ino  store.Ino
	hash uint32
}

// A content is the whole content of a file.
type content struct {
	n    store.Node
	data []byte
	at   uint64 // the time of the clock of extents, before it was read
}

// factsLast is how long facts may wait to serve (C1). The requests of a system call follow each
// other within microseconds, unless the machine is busy.
const factsLast = 200 * time.Millisecond

// mostThreads is how many threads may have facts.
const mostThreads = 1 << 12

// take returns the facts of a thread, and removes them. They are none if they are too old.
func (c *confirmed) take(thread uint32) (f facts) {
	c.mu.Lock()
	defer c.mu.Unlock()
	f, ok := c.threads[thread]
	if !ok {
		return f
	}
	delete(c.threads, thread)
	if time.Since(f.at) > factsLast {
		return facts{told: f.told}
	}
	return f
}

// created notes the attributes of a file that a thread has just created.
func (c *confirmed) created(thread uint32, n store.Node, clock uint64) {
	if call, ok := systemCallOf(thread); ok {
		c.put(thread, facts{clock: clock, call: call.text, child: n})
	}
}

// put keeps the facts of a thread.
func (c *confirmed) put(thread uint32, f facts) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.threads) >= mostThreads {
		maps.DeleteFunc(c.threads, func(_ uint32, f facts) bool { return time.Since(f.at) > factsLast && f.told.ino == 0 })
	}
	if c.threads == nil {
		c.threads = make(map[uint32]facts)
	}
	f.at = time.Now()
	c.threads[thread] = f
}

// looked notes that a LOOKUP is answered. The kernel asks for the attributes of the child next, or
// of the directory if the system call can then change the name.
func (f *facts) looked(e lookedUp) {
	if e.dir.Ino != f.dir.Ino {
		f.uses = 0
	}
	f.child, f.dir = e.n, e.dir
	there := e.n.Ino != 0
	if f.kind == renames || f.kind == removes && there || (f.kind == makes || f.kind == opens) && !there {
		f.uses++
	}
}
