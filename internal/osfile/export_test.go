//go:build unix

package osfile

const MaxParked = maxParked

var (
	Raise        = raise
	RenameByLink = renameByLink
)

// FD returns the descriptor of f.
func (f *File) FD() int { return f.d.fd }

// Parked returns how many descriptors are parked.
func Parked() int {
	registry.mu.Lock()
	defer registry.mu.Unlock()
	return len(registry.parked)
}
