package archive

import (
	"os"
	"sync/atomic"

	"github.com/foliofs/folio/cmd/folio/internal/tree"
)

// openPipe returns a source that has a name and can be read only once: a named pipe or a device.
// Walk opens it, and ends when its context does. Opening a named pipe lasts until a process opens
// it for writing, and nothing else can interrupt that.
func openPipe(path string, o *tree.Options) tree.Source {
	p := &pipe{path: path}
	return openStream(path, p, p, o)
}

// A pipe is opened by its first Read. One goroutine reads; any may close it. A pipe that is opened
// after Close stays open until the process ends.
type pipe struct {
	path string
	file atomic.Pointer[os.File] // nil until it is open
}

func (p *pipe) Read(b []byte) (int, error) {
	f := p.file.Load()
	if f == nil {
		var err error
		if f, err = os.Open(p.path); err != nil {
			return 0, err
		}
		p.file.Store(f)
	}
	return f.Read(b)
}

func (p *pipe) Close() error {
	if f := p.file.Load(); f != nil {
		return f.Close()
	}
	return nil
}
