// Package convert is import, export and convert.
//
// Import makes a volume of directories and archives, or adds them to a directory of a volume that
// is there. Export writes a directory of a volume to a directory on disk or to an archive. Convert
// makes a volume or an archive of another one, by an import, an export, or both with a volume
// between them.
package convert

import (
	"context"
	"io"
	"os"
	"path/filepath"

	"github.com/foliofs/folio"
	"github.com/foliofs/folio/cmd/folio/internal/failure"
	"github.com/foliofs/folio/cmd/folio/internal/location"
	"github.com/foliofs/folio/cmd/folio/internal/overlay"
	"github.com/foliofs/folio/cmd/folio/internal/terminal"
	"github.com/foliofs/folio/cmd/folio/internal/tree"
	"github.com/foliofs/folio/cmd/folio/internal/tree/archive"
	"github.com/foliofs/folio/cmd/folio/internal/tree/volume"
)

// A Convert makes one volume or archive.
type Convert struct {
	*terminal.Streams
	location.Replacing
	Quiet  bool
	Format string // "" lets the name of the target decide
	Base   string // of the overlay whose changes the volume SOURCE keeps

	source, target string
}

// volumeFormat is what --format calls a volume.
const volumeFormat = "volume"

// Run makes target of source. left is the number of files that could not be read.
func (c *Convert) Run(ctx context.Context, src, target string) (left int64, err error) {
	c.source, c.target = src, target
	format, err := formatOf(c.Format, volumeFormat, target, "folio convert SOURCE -")
	if err != nil {
		return 0, err
	}
	c.AnyEnding = c.Format == volumeFormat
	from := location.Parse(src)
	switch fromVolume := location.IsVolume(from.Volume); {
	case c.Base != "" && !fromVolume:
		return 0, failure.Hint(failure.At(src, overlay.ErrNone), "leave out --base")
	case format != 0 && fromVolume:
		return 0, c.export(ctx, from, format, c.Base, "")
	case format != 0:
		return c.between(ctx, format)
	case fromVolume:
		return c.copyVolume(ctx, from)
	}
	return c.importTo(ctx, target, c.Quiet, archive.Open)
}

// export makes an archive of a volume, which warnings call by the name as.
func (c *Convert) export(ctx context.Context, from location.Location, format archive.Format, base, as string) error {
	e := &Export{Streams: c.Streams, Force: c.Replaces(), Quiet: c.Quiet, Format: format.String(), Base: base, as: as}
	return e.Run(ctx, from, c.target)
}

func (c *Convert) importTo(ctx context.Context, volume string, quiet bool, open opener) (left int64, err error) {
	i := &Import{Streams: c.Streams, Replacing: c.Replacing, Quiet: quiet, open: open}
	if err := i.SetOperands([]string{c.source, volume}); err != nil {
		return 0, err
	}
	return i.Run(ctx)
}

// A viewed is the tree of a volume as a source. Its size is not known before: one goroutine at a
// time may use a view.
type viewed struct{ *volume.Source }

func (viewed) Size(context.Context) (bytes int64, ok bool) { return 0, false }

// copyVolume makes a volume of another one, or of a part of it.
func (c *Convert) copyVolume(ctx context.Context, from location.Location) (left int64, err error) {
	err = overlay.View(ctx, from, c.Base, func(rx *folio.Rx) error {
		left, err = c.importTo(ctx, c.target, c.Quiet, func(string, io.Reader, *tree.Options) (tree.Source, error) {
			return viewed{&volume.Source{Loc: from, Rx: rx, Follow: true, Links: true}}, nil
		})
		return err
	})
	return left, err
}

// between makes an archive of something else that is no volume.
func (c *Convert) between(ctx context.Context, format archive.Format) (left int64, err error) {
	dir := os.TempDir()
	if c.target != "-" {
		dir = filepath.Dir(c.target)
		if err := c.checkTarget(); err != nil {
			return 0, err
		}
	}
	dir, err = os.MkdirTemp(dir, ".folio-convert-*")
	if err != nil {
		return 0, err
	}
	defer os.RemoveAll(dir)
	volume := filepath.Join(dir, "volume")
	left, err = c.importTo(ctx, volume, true, archive.Open)
	if err == nil {
		err = c.export(ctx, location.Root(volume), format, "", c.source)
	}
	return left, err
}

// checkTarget refuses early a file that the export would not replace.
func (c *Convert) checkTarget() error {
	switch {
	case !location.Exists(c.target):
		return nil
	case location.SameFile(c.source, c.target):
		return failure.At(c.target, failure.ErrSameFile)
	case !c.Replaces():
		return failure.At(c.target, failure.ErrVolumeExists)
	}
	return nil
}
