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
		if e.outTerminal {
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
	p := e.newProgress("exporting", e.quiet)
	defer p.done()
	src := &volumeTree{loc: e.loc, rx: e.rx, follow: true, links: f == archive.Tar || f == archive.TarGzip}
	t := &treeCopy{ctx: e.ctx, progress: p}
	walk := func(fn func(*source.Entry) error) error {
		t.to = archiveSink{fn, e.noOwner}
		return t.run(src)
	}
	o := &archive.Options{Replace: e.force, Warn: func(name, what string) { e.warnLeftOut(e.loc.display(source.Join(e.loc.path, name)), what) }}
	var err error
	if e.dir == "-" {
		err = archive.Stream(e.stdout, standardOutput, f, o, walk)
	} else {
		sweep(e.dir)
		err = archive.Create(e.ctx, e.dir, f, o, walk)
	}
	e.stats = t.stats
	if err != nil && e.ctx.Err() != nil {
		return context.Cause(e.ctx)
	}
	return e.archiveFailure(err)
}

// An archiveSink is the sink of an archive.
type archiveSink struct {
	write   func(*source.Entry) error
	noOwner bool // entries belong to the user who runs the command
}

func (s archiveSink) add(e *source.Entry) error {
	if s.noOwner {
		e.UID, e.GID = uint32(max(0, os.Geteuid())), uint32(max(0, os.Getegid()))
	}
	return s.write(e)
}

func (archiveSink) finish() error { return nil }

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
