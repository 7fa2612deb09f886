package main

import (
	"context"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/foliofs/folio"
	"github.com/foliofs/folio/cmd/folio/internal/failure"
	"github.com/foliofs/folio/cmd/folio/internal/location"
	"github.com/foliofs/folio/cmd/folio/internal/tree"
	"github.com/foliofs/folio/cmd/folio/internal/value"
)

// A backuper copies one volume.
type backuper struct {
	*command
	location.Replacing
	quiet, json bool

	volume, dest string
}

type backupJSON struct {
	value.JSONPath
	Backup value.JSONText `json:"backup"`
	Size   int64          `json:"size"`
}

func (c *command) backupCommand() *cobra.Command {
	b := &backuper{command: c, Replacing: location.Replacing{Stream: "folio backup VOLUME -"}}
	cmd := writingCommand("backup VOLUME DEST", "Copy a volume while other programs write to it",
		`Copy a volume as it is at one moment, while other programs write to it. The system's cp would leave out
its log. DEST is a file, which appears complete and synced or not at all. A dash writes to standard
output. An existing file is refused. --force replaces a volume at that moment, and --force-any any file.

With --json: one object; docs/reference/json.md describes it.`,
		`  folio backup photos.folio photos-monday.folio
  folio backup photos.folio - | zstd > photos.folio.zst`,
		between(2, 2, "VOLUME and DEST"))
	cmd.ValidArgsFunction = nil // files on disk
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		loc, err := location.WholeVolume(args[0])
		if err != nil {
			return err
		}
		if err := location.InFile(loc.Volume, "pg_dump of PostgreSQL saves it"); err != nil {
			return err
		}
		b.volume, b.dest = loc.Volume, args[1]
		return b.run(cmd.Context())
	}
	flags := cmd.Flags()
	replaceFlags(&b.Replacing, flags, "DEST")
	flags.BoolVarP(&b.quiet, "quiet", "q", false, "show neither progress nor summary")
	flags.BoolVar(&b.json, "json", false, "one JSON object")
	return cmd
}

func (b *backuper) run(ctx context.Context) error {
	if err := b.checkDest(); err != nil {
		return err
	}
	v, err := location.Root(b.volume).Open()
	if err != nil {
		return err
	}
	defer v.Close()
	if b.dest != "-" {
		location.Sweep(b.dest)
	}
	start := time.Now()
	size, err := b.copy(ctx, v.Volume)
	switch {
	case err != nil || b.dest == "-":
		return err
	case b.json:
		return value.WriteJSON(b.Stdout, backupJSON{value.JSONPathOf(b.volume), value.JSONText(b.dest), size})
	case !b.quiet:
		fmt.Fprintf(b.Stdout, "%s: %s in %.2f s\n", b.Name(b.dest), value.BinarySize(size), time.Since(start).Seconds())
	}
	return nil
}

// checkDest returns early an error that BackupFile would return.
func (b *backuper) checkDest() error {
	if b.dest == "-" {
		if b.OutTerminal {
			return failure.At("standard output", failure.ErrTerminal)
		}
		return nil
	}
	if err := location.InFile(b.dest, "folio cp -r copies a volume there"); err != nil {
		return err
	}
	return b.CheckNew(b.dest, b.volume)
}

// copy returns how many bytes the copy has.
func (b *backuper) copy(ctx context.Context, v *folio.Volume) (size int64, err error) {
	p := b.NewProgress("copying", b.quiet || b.json)
	defer p.Done()
	progress := func(done, all int64) {
		size = all
		p.Set(done, all)
	}
	if b.dest != "-" {
		err := v.BackupFile(ctx, b.dest, &folio.BackupOptions{Replace: b.Replaces(), Progress: progress})
		return size, failure.At(b.volume, err)
	}
	info, err := v.Info(ctx)
	if err != nil {
		return 0, failure.At(b.volume, err)
	}
	out := &tree.Output{W: b.Stdout}
	err = v.Backup(ctx, writerFunc(func(q []byte) (int, error) {
		n, err := out.Write(q)
		p.Set(p.Bytes+int64(n), info.Size)
		return n, err
	}))
	if out.Err != nil {
		return 0, failure.OfOutput(out.Err)
	}
	return 0, failure.At(b.volume, err)
}

type writerFunc func(p []byte) (int, error)

func (f writerFunc) Write(p []byte) (int, error) { return f(p) }
