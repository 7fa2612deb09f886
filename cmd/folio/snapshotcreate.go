package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/foliofs/folio"
	"github.com/foliofs/folio/cmd/folio/internal/failure"
	"github.com/foliofs/folio/cmd/folio/internal/location"
)

func (c *command) snapshotCreateCommand() *cobra.Command {
	cmd := writingCommand("create VOLUME [NAME]", "Give the state of a volume a name",
		`Give the state of a volume a name. NAME has 1 to 255 bytes that can be printed, without @, : and /.
Without it the name is made of the time in UTC, and printed.`,
		`  folio snapshot create photos.folio before-cleanup
  folio snapshot create photos.folio`,
		between(1, 2, "VOLUME and NAME"))
	cmd.ValidArgsFunction = nil // files on disk
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		loc, err := location.WholeVolume(args[0])
		if err != nil {
			return err
		}
		return c.changeVolume(cmd.Context(), loc, func(v *folio.Volume) error {
			if len(args) > 1 {
				return makeSnapshot(cmd.Context(), v, loc.Volume, args[1])
			}
			name, err := makeTimedSnapshot(cmd.Context(), v, loc.Volume)
			if err == nil {
				fmt.Fprintln(c.Stdout, name)
			}
			return err
		})
	}
	return cmd
}

var errHidden = errors.New("is a file on disk, which would hide the snapshot")

// makeSnapshot makes a snapshot, unless no command could read it.
func makeSnapshot(ctx context.Context, v *folio.Volume, volume, name string) error {
	at := location.Location{Volume: volume, Snapshot: name}
	if name != "" && !location.OnServer(volume) && location.Exists(at.Tree()) {
		return failure.Hint(failure.At(at.Tree(), errHidden), "choose another name")
	}
	return v.Snapshot(ctx, name)
}

// timedName is the form of a name that is made of the time: as ISO 8601 has it, without colons.
const timedName = "20060102T150405Z"

// makeTimedSnapshot makes a snapshot with a name of the time. If the name is taken, it appends a
// number.
func makeTimedSnapshot(ctx context.Context, v *folio.Volume, volume string) (name string, err error) {
	first := time.Now().UTC().Format(timedName)
	name = first
	for n := 2; ; n++ {
		err = makeSnapshot(ctx, v, volume, name)
		if !errors.Is(err, folio.ErrSnapshotExists) && !errors.Is(err, errHidden) {
			return name, err
		}
		name = fmt.Sprint(first, "-", n)
	}
}
