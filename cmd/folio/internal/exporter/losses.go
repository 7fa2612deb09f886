package exporter

import (
	"errors"
	"os"
	"strings"

	"github.com/foliofs/folio/cmd/folio/internal/archive"
	"github.com/foliofs/folio/cmd/folio/internal/listing"
	"github.com/foliofs/folio/cmd/folio/internal/source"
	"github.com/foliofs/folio/cmd/folio/internal/treecopy"
	"github.com/foliofs/folio/cmd/folio/internal/value"
)

// A losses counts what the files of an export have and its archive cannot hold.
// docs/howto/command.md says what else a format rounds or leaves out.
type losses struct {
	format archive.Format
	seen   map[source.FileID]bool // files with several names
	links  int64                  // names that became files of their own

	// Files with extended attributes, with other modes and owners than an import would give them,
	// and with holes.
	xattrs, modes, owners, holes int64
}

func (l *losses) count(e *source.Entry) {
	switch l.format {
	case archive.AgentFS:
		add(&l.xattrs, len(e.Xattrs) > 0)
	case archive.Sqlar:
		l.countLink(e)
		add(&l.xattrs, len(e.Xattrs) > 0)
	case archive.LiteFS:
		if e.Mode.IsRegular() || e.Mode.IsDir() && e.Name != "." {
			l.countLink(e)
			add(&l.xattrs, len(e.Xattrs) > 0)
			add(&l.modes, e.Mode != source.LitefsFileMode && e.Mode != source.LitefsDirMode)
			add(&l.owners, int(e.UID) != os.Geteuid() || int(e.GID) != os.Getegid())
			add(&l.holes, e.Holes)
		}
	}
}

func add(count *int64, one bool) {
	if one {
		*count++
	}
}

func (l *losses) countLink(e *source.Entry) {
	if !e.Shared {
		return
	}
	if l.seen[e.ID] {
		l.links++
	} else if l.seen == nil {
		l.seen = make(map[source.FileID]bool)
	}
	l.seen[e.ID] = true
}

// err returns nil if nothing was lost.
func (l *losses) err() error {
	var lost []string
	if l.links > 0 {
		lost = append(lost, value.Count(l.links, "hard link is a file of its own", "hard links are files of their own"))
	}
	for _, k := range []struct {
		files int64
		what  string
	}{{l.xattrs, "extended attributes"}, {l.modes, "modes"}, {l.owners, "owners"}, {l.holes, "holes"}} {
		if k.files > 0 {
			lost = append(lost, value.Count(k.files, "file has", "files have")+" lost "+k.what)
		}
	}
	if lost == nil {
		return nil
	}
	return errors.New(strings.Join(lost, ", "))
}

// names returns how many names the files with several have in a tree, by their inodes.
func (e *Export) names(t *treecopy.Volume) (map[uint64]int64, error) {
	names := make(map[uint64]int64)
	keep := t.Keeps()
	err := listing.Walk(e.loc, e.rx, func(f *listing.Entry) error {
		if err := keep(f); err != nil {
			return err
		}
		if f.Node.Nlink > 1 && !f.Mode.IsDir() {
			names[f.Node.Ino]++
		}
		return e.ctx.Err()
	})
	return names, err
}
