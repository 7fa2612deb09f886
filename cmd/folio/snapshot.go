package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"github.com/foliofs/folio"
	"github.com/foliofs/folio/cmd/folio/internal/failure"
	"github.com/foliofs/folio/cmd/folio/internal/location"
	"github.com/foliofs/folio/cmd/folio/internal/value"
)

func (c *command) snapshotCommand() *cobra.Command {
	cmd := c.newGroup("snapshot", "Give states of a volume a name, to read them later",
		`A snapshot is a state of a volume that has a name. To make one takes the same time whatever the volume
holds; from then on a change keeps what it changes. VOLUME@NAME names a snapshot wherever a command reads
a volume, and VOLUME@NAME:PATH a file in it. folio restore takes files back to a snapshot, and folio log
tells the versions of a file.`,
		`  folio snapshot create photos.folio before-cleanup
  folio ls photos.folio@before-cleanup:2026
  folio restore photos.folio@before-cleanup:2026/may
  folio snapshot prune photos.folio --keep-daily 7 --keep-weekly 5`,
		c.snapshotCreateCommand(), c.snapshotListCommand(), c.snapshotRemoveCommand(), c.snapshotPruneCommand())
	cmd.SuggestFor = []string{"snapshots"}
	return cmd
}

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
	return v.CreateSnapshot(ctx, name)
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

// A snapshotJSON is a snapshot as --json tells it.
type snapshotJSON struct {
	Name value.JSONText `json:"name"`
	Time string         `json:"time"`
}

func (c *command) snapshotListCommand() *cobra.Command {
	var json bool
	cmd := newCommand("list VOLUME", "List the snapshots of a volume",
		`List the snapshots of a volume, the oldest first: when each was made, and its name.

With --json: one object for each snapshot and line, as docs/reference/json.md describes.`,
		`  folio snapshot list photos.folio
  folio snapshot list --json photos.folio | jq -r .name`,
		between(1, 1, "one VOLUME"))
	onVolume(cmd, func(_ context.Context, loc location.Location) error {
		list, err := loc.Snapshots()
		if err != nil {
			return err
		}
		c.printSnapshots(list, json)
		return nil
	})
	cmd.Aliases = []string{"ls"}
	cmd.Flags().BoolVar(&json, "json", false, "one JSON object for each snapshot")
	return cmd
}

func (c *command) printSnapshots(list []folio.Snapshot, json bool) {
	for _, s := range list {
		object := snapshotJSON{value.JSONText(s.Name), value.JSONTime(s.Time.UnixNano())}
		c.list(json, object, "%s  %s\n", s.Time.Format("2006-01-02 15:04:05 -0700"), c.Name(s.Name))
	}
}

func (c *command) snapshotRemoveCommand() *cobra.Command {
	cmd := writingCommand("remove VOLUME NAME...", "Remove snapshots, and what only they have kept",
		`Remove snapshots, and what only they have kept. If one of them does not exist, none is removed. The file
of the volume does not shrink, but new files use the space. folio compact makes it smaller.`,
		"  folio snapshot remove photos.folio before-cleanup",
		between(2, -1, "VOLUME and NAME"))
	cmd.Aliases = []string{"rm"}
	cmd.SuggestFor = []string{"delete"}
	cmd.ValidArgsFunction = func(_ *cobra.Command, args []string, word string) ([]string, cobra.ShellCompDirective) {
		if len(args) == 0 {
			return nil, cobra.ShellCompDirectiveDefault
		}
		words, _ := completeSnapshot(args[0], "", word)
		return words, cobra.ShellCompDirectiveNoFileComp
	}
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		loc, err := location.WholeVolume(args[0])
		if err != nil {
			return err
		}
		return c.changeVolume(cmd.Context(), loc, func(v *folio.Volume) error {
			return removeSnapshots(cmd.Context(), v, loc, args[1:])
		})
	}
	return cmd
}

// removeSnapshots removes snapshots if all of them are there.
func removeSnapshots(ctx context.Context, v *folio.Volume, loc location.Location, names []string) error {
	list, err := v.Snapshots(ctx)
	if err != nil {
		return err
	}
	found := make([]folio.Snapshot, len(names))
	for i, name := range names {
		at := slices.IndexFunc(list, func(s folio.Snapshot) bool { return s.Name == name })
		if at < 0 {
			loc.Snapshot = name
			return failure.At(loc.Tree(), folio.ErrNoSnapshot)
		}
		found[i] = list[at]
	}
	return v.RemoveSnapshots(ctx, found...)
}

// A pruner removes old snapshots by rules.
type pruner struct {
	*command
	policy              folio.PrunePolicy
	dryRun, quiet, json bool
}

const pruneLong = `Remove the snapshots that none of the rules keeps. The rules are those of restic forget. At least one must
be given.

  --keep-last N keeps the newest N.
  --keep-hourly N keeps the newest of each hour that has any, for the last N such hours. --keep-daily,
    --keep-weekly, --keep-monthly and --keep-yearly do the same with days, weeks from Monday on, months and
    years of the local time. A rule that keeps fewer than N keeps the oldest snapshot, too.
  --keep-within DURATION keeps all that are younger than the newest one by less than that, such as
    2y5m7d3h: 2 years, 5 months, 7 days and 3 hours.

A snapshot stays if any rule keeps it. N may be unlimited.`

var errNoRule = errors.New("no rule says which snapshots to keep, and all would be removed; give one, such as --keep-last 10")

func (c *command) snapshotPruneCommand() *cobra.Command {
	p := &pruner{command: c}
	cmd := writingCommand("prune VOLUME --keep-...", "Remove old snapshots by rules",
		pruneLong,
		`  folio snapshot prune photos.folio --keep-within 2d --keep-daily 7 --keep-weekly 5 --keep-monthly 12
  folio snapshot prune photos.folio --keep-last 10 --dry-run`,
		between(1, 1, "one VOLUME"))
	args := cmd.Args
	cmd.Args = func(cmd *cobra.Command, operands []string) error {
		if err := args(cmd, operands); err != nil {
			return err
		}
		if p.policy == (folio.PrunePolicy{}) {
			return usageError(cmd, errNoRule)
		}
		return nil
	}
	onVolume(cmd, p.run)
	flags := cmd.Flags()
	for _, rule := range []struct {
		name, what string
		count      *int
	}{
		{"last", "the newest `n` snapshots", &p.policy.Last},
		{"hourly", "the newest of each hour, for `n` hours that have any", &p.policy.Hourly},
		{"daily", "the newest of each day, for `n` days", &p.policy.Daily},
		{"weekly", "the newest of each week, for `n` weeks", &p.policy.Weekly},
		{"monthly", "the newest of each month, for `n` months", &p.policy.Monthly},
		{"yearly", "the newest of each year, for `n` years", &p.policy.Yearly},
	} {
		flags.Func("keep-"+rule.name, "keep "+rule.what, (*value.Limit)(rule.count).Set)
	}
	flags.Func("keep-within", "keep all that are younger than the newest by less than this `duration`, such as 2y5m7d3h", (*value.Period)(&p.policy.Within).Set)
	flags.BoolVarP(&p.dryRun, "dry-run", "n", false, "remove nothing, and tell what would be removed")
	flags.BoolVarP(&p.quiet, "quiet", "q", false, "tell nothing")
	flags.BoolVar(&p.json, "json", false, "one JSON object for each snapshot that is removed")
	return cmd
}

func (p *pruner) run(ctx context.Context, loc location.Location) error {
	var removed []folio.Snapshot
	var err error
	if p.dryRun {
		var list []folio.Snapshot
		list, err = loc.Snapshots()
		_, removed = p.policy.Choose(list)
	} else {
		err = p.changeVolume(ctx, loc, func(v *folio.Volume) (err error) {
			removed, err = v.Prune(ctx, p.policy)
			return err
		})
	}
	if err != nil || p.quiet {
		return err
	}
	if p.printSnapshots(removed, p.json); p.json {
		return nil
	}
	fmt.Fprintf(p.Stdout, "%s: %s %s\n", p.Name(loc.String()), value.Count(int64(len(removed)), "snapshot", "snapshots"), p.verb())
	return nil
}

// verb returns the word for a change of snapshots, such as removed.
func (p *pruner) verb() string {
	if p.dryRun {
		return "would be removed"
	}
	return "removed"
}
