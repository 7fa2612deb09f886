package archive

import (
	"io/fs"
	"os"
	"sync"

	"github.com/foliofs/folio/cmd/folio/internal/tree"
)

// openPipe returns a source that has a name and can be read only once: a named pipe or a device.
// Walk opens it, and ends when its context does. Opening a named pipe lasts until a process opens
// it for writing, and nothing else can interrupt that.
func openPipe(path string, o *tree.Options) tree.Source {
	p := &pipe{path: path}
	return openStream(path, p, p, o)
}

// A pipe is opened by its first Read. One goroutine reads; any may close it.
type pipe struct {
	path string

	mu     sync.Mutex // guards what follows; never held while anything waits
	file   *os.File   // nil until it is open
	closed bool
}

func (p *pipe) Read(b []byte) (int, error) {
	f, err := p.open()
	if err != nil {
		return 0, err
	}
	return f.Read(b)
}

func (p *pipe) open() (*os.File, error) {
	p.mu.Lock()
	f, closed := p.file, p.closed
	p.mu.Unlock()
	if f != nil || closed {
		return f, p.openError(closed)
	}
	f, err := os.Open(p.path)
	if err != nil {
		return nil, err
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed {
		_ = f.Close()
		return nil, p.openError(true)
	}
	p.file = f
	return f, nil
}

func (p *pipe) openError(closed bool) error {
	if closed {
		return tree.OpenError(p.path, fs.ErrClosed)
	}
	return nil
}

// Close does not wait for an open in progress. The goroutine that opens it finds the pipe closed.
func (p *pipe) Close() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.closed = true
	if p.file == nil {
		return nil
	}
	return p.file.Close()
}
