package folio

import (
	"io/fs"
	"time"

	"github.com/foliofs/folio/store"
)

// A Node is what a volume knows of a file apart from its names: what the Sys method of an fs.FileInfo points to.
type Node = store.Node

// A fileInfo describes a file at the moment when it was asked for.
type fileInfo struct {
	name string
	node Node
}

var _ fs.FileInfo = (*fileInfo)(nil)

func (i *fileInfo) Name() string       { return i.name }
func (i *fileInfo) Size() int64        { return i.node.Size }
func (i *fileInfo) Mode() fs.FileMode  { return fileMode(i.node.Mode) }
func (i *fileInfo) ModTime() time.Time { return time.Unix(0, i.node.Mtime) }
func (i *fileInfo) IsDir() bool        { return store.TypeOf(i.node.Mode) == store.Dir }
func (i *fileInfo) Sys() any           { return &i.node }
func (i *fileInfo) String() string     { return fs.FormatFileInfo(i) }
