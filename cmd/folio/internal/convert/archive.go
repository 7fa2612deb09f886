package convert

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/foliofs/folio/cmd/folio/internal/failure"
	"github.com/foliofs/folio/cmd/folio/internal/interrupt"
	"github.com/foliofs/folio/cmd/folio/internal/location"
	"github.com/foliofs/folio/cmd/folio/internal/tree"
	"github.com/foliofs/folio/cmd/folio/internal/tree/archive"
	"github.com/foliofs/folio/cmd/folio/internal/tree/volume"
	"github.com/foliofs/folio/cmd/folio/internal/value"
	"github.com/foliofs/folio/internal/posix"
)

// directoryFormat is what --format calls a directory.
const directoryFormat = "dir"

// archiveFormat returns the format of the archive that DEST is to be; 0 means a directory.
func (e *Export) archiveFormat() (archive.Format, error) {
	if info, err := os.Stat(e.dir); err == nil && info.IsDir() && e.Format == "" && e.dir != "-" {
		return 0, nil
	}
	return formatOf(e.Format, directoryFormat, e.dir, "folio export VOLUME -")
}

// formatOf returns the format of the archive that --format asks for, or else the name of the
// target. It is 0 for a target that is no archive: format calls that plain. stream is the command
// that writes an archive to standard output, for a target that promises a format which folio does
// not write.
func formatOf(format, plain, target, stream string) (archive.Format, error) {
	switch {
	case format == plain:
		return 0, nil
	case format != "":
		f, err := archive.ParseFormat(format)
		if err != nil {
			err = fmt.Errorf("%w, or %s", err, plain)
		}
		return f, err
	case target == "-":
		return archive.Tar, nil
	}
	f, _ := archive.FormatOf(target)
	return f, location.Written(target, stream)
}

// checkArchive refuses early if an archive cannot be.
func (e *Export) checkArchive() error {
	if e.dir == "-" {
		if e.OutTerminal {
			return failure.At(failure.StandardOutput, failure.ErrTerminal)
		}
		interrupt.LetKill(e.ctx)
		return nil
	}
	info, err := os.Stat(e.dir)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return err
	case info.IsDir():
		return failure.At(e.dir, errors.New("is a directory"))
	case location.SameFile(e.dir, e.loc.Volume):
		return failure.At(e.dir, failure.ErrSourceVolume)
	case !e.Force:
		return failure.At(e.dir, failure.ErrVolumeExists)
	}
	return nil
}

// archive writes an archive, and warns once of all that its format could not hold.
func (e *Export) archive(f archive.Format) error {
	if err := e.checkArchive(); err != nil {
		return err
	}
	p := e.NewProgress("exporting", e.Quiet)
	defer p.Done()
	src := &volume.Source{Loc: e.loc, Rx: e.rx, Follow: true, Links: f.IsTar(), As: e.as}
	t, lost := &tree.Copy{Ctx: e.ctx, Progress: p}, &unsupported{seen: make(map[tree.FileID]bool)}
	fill := func(to tree.Sink) error {
		t.To = archiveSink{to, e.NoOwner, f, lost}
		return t.Run(src)
	}
	o := &archive.Options{Replace: e.Force, Warn: func(name, what string) { e.WarnLeftOut(e.display(name), what) }}
	var err error
	if e.dir == "-" {
		err = archive.Stream(e.Stdout, failure.StandardOutput, f, o, fill)
	} else {
		location.Sweep(e.dir)
		err = archive.Create(e.ctx, e.dir, f, o, fill)
	}
	e.stats = t.Stats
	if err == nil && lost.err() != nil {
		e.Warn(failure.At(e.dir, lost.err()))
	}
	return err
}

// display is how a file is shown.
func (e *Export) display(name string) string {
	if e.as != "" {
		return filepath.Join(e.as, name)
	}
	return e.loc.Display(tree.Join(e.loc.Path, name))
}

// An archiveSink is an archive that an export writes.
type archiveSink struct {
	tree.Sink
	noOwner bool // entries belong to the user who runs the command
	format  archive.Format
	lost    *unsupported
}

func (s archiveSink) Add(e *tree.Entry) error {
	if s.noOwner {
		e.UID, e.GID = posix.Owner()
	}
	if !s.format.IsTar() {
		s.lost.count(e)
	}
	return s.Sink.Add(e)
}

// An unsupported counts the properties of exported files that zip and SQLite archives cannot hold.
// docs/reference/archives.md lists other losses of formats.
type unsupported struct {
	seen   map[tree.FileID]bool // files with several names
	links  int64                // names that became files of their own
	xattrs int64                // files with extended attributes
}

func (u *unsupported) count(e *tree.Entry) {
	if special := e.Mode.Type()&^fs.ModeSymlink != 0; e.Shared && !special { // which is left out
		if u.seen[e.ID] {
			u.links++
		}
		u.seen[e.ID] = true
	}
	if len(e.Xattrs) > 0 {
		u.xattrs++
	}
}

// err returns nil if nothing was lost.
func (u *unsupported) err() error {
	var lost []string
	if u.links > 0 {
		lost = append(lost, value.Count(u.links, "hard link is a file of its own", "hard links are files of their own"))
	}
	if u.xattrs > 0 {
		lost = append(lost, value.Count(u.xattrs, "file has", "files have")+" lost extended attributes")
	}
	if lost == nil {
		return nil
	}
	return errors.New(strings.Join(lost, ", "))
}
