package main

import (
	"context"
	"errors"
	"io/fs"
	"os"

	"github.com/foliofs/folio/cmd/folio/internal/archive"
	"github.com/foliofs/folio/cmd/folio/internal/source"
)

// directoryFormat is what --format calls a directory.
const directoryFormat = "dir"

// archiveFormat returns the format of the archive that DEST is to be; 0 means a directory.
func (e *exporter) archiveFormat() (archive.Format, error) {
	if e.format == directoryFormat {
		return 0, nil
	}
	if e.format != "" {
		return archive.ParseFormat(e.format)
	}
	if e.dir == "-" {
		return archive.Tar, nil
	}
	if info, err := os.Stat(e.dir); err == nil && info.IsDir() {
		return 0, nil
	}
	f, _ := archive.FormatOf(e.dir)
	return f, nil
}

// checkArchive refuses early where an archive cannot be.
func (e *exporter) checkArchive() error {
	if e.dir == "-" {
		if e.terminal.stdout {
			return failure(standardOutput, errTerminal)
		}
		letSignalsKill(e.ctx)
		return nil
	}
	info, err := os.Stat(e.dir)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return err
	case info.IsDir():
		return failure(e.dir, errors.New("is a directory"))
	case sameFile(e.dir, e.loc.volume):
		return failure(e.dir, errSourceVolume)
	case !e.force:
		return failure(e.dir, errVolumeExists)
	}
	return nil
}

// archive writes an archive.
func (e *exporter) archive(f archive.Format) error {
	if err := e.checkArchive(); err != nil {
		return err
	}
	e.progress = e.newProgress("exporting", e.quiet)
	defer e.progress.done()
	src := &volumeTree{loc: e.loc, rx: e.rx, follow: true, links: f == archive.Tar || f == archive.TarGzip}
	e.measure(src)
	walk := func(fn func(*source.Entry) error) error {
		return src.Walk(e.ctx, func(entry *source.Entry) error { return e.archiveEntry(entry, fn) })
	}
	o := &archive.Options{Replace: e.force, Warn: func(name, what string) { e.warnLeftOut(e.loc.display(joinPath(e.loc.path, name)), what) }}
	var err error
	if e.dir == "-" {
		err = archive.Stream(e.stdout, standardOutput, f, o, walk)
	} else {
		sweep(e.dir)
		err = archive.Create(e.ctx, e.dir, f, o, walk)
	}
	if err != nil && e.ctx.Err() != nil {
		return context.Cause(e.ctx)
	}
	return e.archiveFailure(err)
}

// archiveEntry counts an entry and passes it on.
func (e *exporter) archiveEntry(entry *source.Entry, fn func(*source.Entry) error) error {
	if entry.Content != nil {
		entry.Content = countedReader{entry.Content, e.progress}
	}
	if e.noOwner {
		entry.UID, entry.GID = uint32(max(0, os.Geteuid())), uint32(max(0, os.Getegid()))
	}
	if err := fn(entry); err != nil {
		return err
	}
	e.countEntry(entry)
	return nil
}

// countEntry counts an entry for the summary.
func (e *exporter) countEntry(entry *source.Entry) {
	s := &e.stats
	switch {
	case entry.Link != "":
		s.Links++
	case entry.Mode.IsDir():
		if entry.Name != "." {
			s.Dirs++
		}
	case entry.Mode.IsRegular():
		s.Files++
		s.Bytes += entry.Size
		e.progress.addFile()
	case entry.Mode.Type() == fs.ModeSymlink:
		s.Symlinks++
	default:
		s.Others++
	}
}

// archiveFailure names the archive in an error of writing it, and the file in the volume in an
// error of an entry.
func (e *exporter) archiveFailure(err error) error {
	if pe, ok := errors.AsType[*fs.PathError](err); ok && pe.Op == archive.Op {
		return pe
	}
	if ee, ok := errors.AsType[*source.EntryError](err); ok {
		return e.loc.entryFailure(ee)
	}
	if errors.Is(err, archive.ErrNoStream) {
		return hint(failure(standardOutput, err), "name a file")
	}
	return err
}

// measure lets the progress know how much there is.
func (e *exporter) measure(src *volumeTree) {
	if !e.progress.shown() {
		return
	}
	if total, ok := src.Size(e.ctx); ok {
		e.progress.total.Store(total)
	}
}

func joinPath(dir, name string) string {
	if dir == "." {
		return name
	}
	return dir + "/" + name
}
