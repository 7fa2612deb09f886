package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/foliofs/folio"
	"github.com/foliofs/folio/cmd/folio/internal/location"
	"github.com/foliofs/folio/cmd/folio/internal/value"
)

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
	if err := p.printSnapshots(removed, p.json); err != nil || p.json {
		return err
	}
	fmt.Fprintf(p.Stdout, "%s: %s %s\n", p.Name(loc.String()), value.Count(int64(len(removed)), "snapshot", "snapshots"), p.verb())
	return nil
}

// verb says what was done to snapshots.
func (p *pruner) verb() string {
	if p.dryRun {
		return "would be removed"
	}
	return "removed"
}
