package exporter

import (
	"errors"
	"strings"

	"github.com/foliofs/folio/cmd/folio/internal/archive"
	"github.com/foliofs/folio/cmd/folio/internal/listing"
	"github.com/foliofs/folio/cmd/folio/internal/source"
	"github.com/foliofs/folio/cmd/folio/internal/value"
)

// A losses counts what the files of an export have and its archive cannot hold. docs/command.md
// says what else a format rounds or leaves out.
type losses struct {
	format archive.Format
	seen   map[source.FileID]bool // files with several names
	links  int64                  // names that became files of their own
	xattrs int64                  // files with extended attributes
}

func (l *losses) count(e *source.Entry) {
	if l.format == archive.Sqlar && e.Shared {
		if l.seen[e.ID] {
			l.links++
		} else if l.seen == nil {
			l.seen = make(map[source.FileID]bool)
		}
		l.seen[e.ID] = true
	}
	if (l.format == archive.Sqlar || l.format == archive.AgentFS) && len(e.Xattrs) > 0 {
		l.xattrs++
	}
}

// err returns nil if nothing was lost.
func (l *losses) err() error {
	var lost []string
	if l.links > 0 {
		lost = append(lost, value.Count(l.links, "hard link is a file of its own", "hard links are files of their own"))
	}
	if l.xattrs > 0 {
		lost = append(lost, value.Count(l.xattrs, "file has", "files have")+" lost extended attributes")
	}
	if lost == nil {
		return nil
	}
	return errors.New(strings.Join(lost, ", "))
}

// names returns how many names the files with several have in the tree, by their inodes.
func (e *Export) names() (map[uint64]int64, error) {
	names := make(map[uint64]int64)
	err := listing.Walk(e.loc, e.rx, func(f *listing.Entry) error {
		if f.Node.Nlink > 1 && !f.Mode.IsDir() {
			names[f.Node.Ino]++
		}
		return e.ctx.Err()
	})
	return names, err
}
