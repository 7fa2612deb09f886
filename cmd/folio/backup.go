package main

import (
	"context"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/foliofs/folio"
)

// A backuper copies one volume.
type backuper struct {
	*command
	replacing
	quiet, json bool

	volume, dest string
}

// A backupJSON is the result of backup.
type backupJSON struct {
	jsonPath
	Backup jsonText `json:"backup"`
	Size   int64    `json:"size"`
}

func (c *command) backupCommand() *cobra.Command {
	b := &backuper{command: c}
	cmd := &cobra.Command{
		Annotations: map[string]string{cleansUp: "yes"},
		Use:         "backup VOLUME DEST",
		Short:       "Copy a volume while other programs write to it",
		Long: `Copy a volume as it is at one moment, while other programs write to it. The system's cp would leave out
its log. DEST is a file, which appears complete and synced or not at all. A dash writes to standard
output. An existing file is refused. --force replaces a volume at that moment, and --force-any any file.

With --json: one object; docs/command.md describes it.`,
		Example: `  folio backup photos.folio photos-monday.folio
  folio backup photos.folio - | zstd > photos.folio.zst`,
		Args: between(2, 2, "VOLUME and DEST"),
		RunE: func(cmd *cobra.Command, args []string) error {
			volume, err := wholeVolume(args[0])
			if err != nil {
				return err
			}
			b.volume, b.dest = volume, args[1]
			return b.run(cmd.Context())
		},
	}
	flags := cmd.Flags()
	b.flags(flags, "DEST")
	flags.BoolVarP(&b.quiet, "quiet", "q", false, "show neither progress nor summary")
	flags.BoolVar(&b.json, "json", false, "one JSON object")
	return cmd
}

func (b *backuper) run(ctx context.Context) error {
	if err := b.checkDest(); err != nil {
		return err
	}
	v, err := rootOf(b.volume).open()
	if err != nil {
		return err
	}
	defer v.Close()
	if b.dest != "-" {
		sweep(b.dest)
	}
	start := time.Now()
	size, err := b.copy(ctx, v)
	switch {
	case err != nil && ctx.Err() != nil:
		return context.Cause(ctx)
	case err != nil || b.dest == "-":
		return err
	case b.json:
		return writeJSON(b.stdout, backupJSON{jsonPathOf(b.volume), jsonText(b.dest), size})
	case !b.quiet:
		fmt.Fprintf(b.stdout, "%s: %s in %.2f s\n", b.name(b.dest), metricSize(size), time.Since(start).Seconds())
	}
	return nil
}

// checkDest returns early an error that BackupFile would return.
func (b *backuper) checkDest() error {
	if b.dest == "-" {
		if b.outTerminal {
			return failure("standard output", errTerminal)
		}
		return nil
	}
	return b.checkNew(b.dest, b.volume)
}

// copy returns how many bytes the copy has.
func (b *backuper) copy(ctx context.Context, v *folio.Volume) (size int64, err error) {
	p := b.newProgress("copying", b.quiet || b.json)
	defer p.done()
	progress := func(done, all int64) {
		size = all
		p.set(done, all)
	}
	if b.dest != "-" {
		err := v.BackupFile(ctx, b.dest, &folio.BackupOptions{Replace: b.replaces(), Progress: progress})
		return size, failure(b.volume, err)
	}
	info, err := v.Info(ctx)
	if err != nil {
		return 0, failure(b.volume, err)
	}
	out := &output{w: b.stdout}
	err = v.Backup(ctx, writerFunc(func(q []byte) (int, error) {
		n, err := out.Write(q)
		p.set(p.bytes+int64(n), info.Size)
		return n, err
	}))
	if out.err != nil {
		return 0, outputFailure(out.err)
	}
	return 0, failure(b.volume, err)
}

// A writerFunc is a function that writes.
type writerFunc func(p []byte) (int, error)

func (f writerFunc) Write(p []byte) (int, error) { return f(p) }
