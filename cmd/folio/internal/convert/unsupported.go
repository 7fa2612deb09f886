package convert

import (
	"errors"
	"strings"

	"github.com/foliofs/folio/cmd/folio/internal/tree"
	"github.com/foliofs/folio/cmd/folio/internal/tree/archive"
	"github.com/foliofs/folio/cmd/folio/internal/value"
)

// An unsupported counts what the files of an export have and its archive cannot hold.
// docs/howto/command.md says what else a format rounds or leaves out.
type unsupported struct {
	format archive.Format
	seen   map[tree.FileID]bool // files with several names
	links  int64                // names that became files of their own
	xattrs int64                // files with extended attributes
}

func (l *unsupported) count(e *tree.Entry) {
	if l.format != archive.Sqlar {
		return
	}
	l.countLink(e)
	if len(e.Xattrs) > 0 {
		l.xattrs++
	}
}

func (l *unsupported) countLink(e *tree.Entry) {
	if !e.Shared {
		return
	}
	if l.seen[e.ID] {
		l.links++
	} else if l.seen == nil {
		l.seen = make(map[tree.FileID]bool)
	}
	l.seen[e.ID] = true
}

// err returns nil if nothing was lost.
func (l *unsupported) err() error {
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
