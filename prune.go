package folio

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/foliofs/folio/internal/posix"
)

// A PrunePolicy says which snapshots [Volume.Prune] keeps: each that one of its rules keeps. They
// follow restic's command forget. A count below 0 has no limit, and a rule that is 0 keeps nothing.
//
// Hours, days, weeks, months and years follow the calendar, in the time zone of each Snapshot.Time.
// Weeks follow ISO 8601 and begin on Monday. The rule of days goes through the snapshots from the
// newest to the oldest, keeps the newest of each day that has any, and ends when it has kept as
// many as it says. The other rules work alike, each by itself. If a rule has kept fewer than it
// says, it also keeps the oldest snapshot of all.
type PrunePolicy struct {
	Last    int // keep so many of the newest
	Hourly  int // keep the newest of each hour, for so many hours that have any
	Daily   int // keep the newest of each day
	Weekly  int // keep the newest of each week
	Monthly int // keep the newest of each month
	Yearly  int // keep the newest of each year
	// Within keeps all that are younger than the newest snapshot by less than that. A snapshot with
	// a time in the future is not taken for the newest.
	Within PrunePeriod
}

// A PrunePeriod is a time of the calendar: a month of it has 28 to 31 days.
type PrunePeriod struct{ Years, Months, Days, Hours int }

// before returns the time that is a period before another one.
func (p PrunePeriod) before(t time.Time) time.Time {
	return t.AddDate(-p.Years, -p.Months, -p.Days).Add(-time.Duration(p.Hours) * time.Hour)
}

// Choose divides snapshots by the policy. Both lists are sorted by time, the oldest first. A policy
// without a rule keeps all. Choose changes nothing.
func (p PrunePolicy) Choose(list []Snapshot) (kept, removed []Snapshot) {
	return p.choose(list, time.Now())
}

func (p PrunePolicy) choose(list []Snapshot, now time.Time) (kept, removed []Snapshot) {
	list = slices.Clone(list)
	slices.SortStableFunc(list, func(a, b Snapshot) int { return a.Time.Compare(b.Time) })
	if p == (PrunePolicy{}) {
		return list, nil
	}
	buckets, since := p.buckets(), p.Within.before(newestOf(list, now))
	for i, s := range slices.Backward(list) {
		keep := p.Within != (PrunePeriod{}) && s.Time.After(since)
		for b := range buckets {
			keep = buckets[b].keeps(s.Time, i == 0) || keep
		}
		if keep {
			kept = append(kept, s)
		} else {
			removed = append(removed, s)
		}
	}
	slices.Reverse(kept)
	slices.Reverse(removed)
	return kept, removed
}

// newestOf returns the last time of a snapshot that is not in the future.
func newestOf(list []Snapshot, now time.Time) (newest time.Time) {
	for _, s := range list {
		if s.Time.Before(now) {
			newest = s.Time
		}
	}
	return newest
}

// A pruneBucket is one rule of a policy, at work.
type pruneBucket struct {
	left   int                      // how many snapshots it may keep yet; below 0 any number
	period func(t time.Time) [4]int // the hour, the day and so on of a time; nil for the rule of the last ones
	begun  bool
	last   [4]int // the period of the snapshot that was kept last
}

func (p *PrunePolicy) buckets() []pruneBucket {
	return []pruneBucket{
		{left: p.Last},
		{left: p.Hourly, period: func(t time.Time) [4]int { return [4]int{t.Year(), int(t.Month()), t.Day(), t.Hour()} }},
		{left: p.Daily, period: func(t time.Time) [4]int { return [4]int{t.Year(), int(t.Month()), t.Day()} }},
		{left: p.Weekly, period: func(t time.Time) [4]int { year, week := t.ISOWeek(); return [4]int{year, week} }},
		{left: p.Monthly, period: func(t time.Time) [4]int { return [4]int{t.Year(), int(t.Month())} }},
		{left: p.Yearly, period: func(t time.Time) [4]int { return [4]int{t.Year()} }},
	}
}

// keeps reports whether the rule keeps a snapshot of that time. It is asked from the newest on.
func (b *pruneBucket) keeps(t time.Time, oldest bool) bool {
	if b.left == 0 {
		return false
	}
	if b.period != nil {
		period := b.period(t)
		if b.begun && period == b.last && !oldest {
			return false
		}
		b.begun, b.last = true, period
	}
	if b.left > 0 {
		b.left--
	}
	return true
}

var errNoPruneRule = fmt.Errorf("%w: a policy without a rule keeps nothing", posix.ErrInvalid)

// Prune removes the snapshots that the policy does not keep, and returns them, the oldest first.
// [PrunePolicy.Choose] tells beforehand which these are.
//
// A policy without a rule is refused, with an error that matches fs.ErrInvalid. It also returns the
// errors of RemoveSnapshot. If another process removes one of the snapshots meanwhile, Prune begins
// again.
func (v *Volume) Prune(ctx context.Context, p PrunePolicy) (removed []Snapshot, err error) {
	if p == (PrunePolicy{}) {
		return nil, v.volumeError("prune", errNoPruneRule)
	}
	for {
		list, err := v.Snapshots(ctx)
		if err != nil {
			return nil, err
		}
		_, removed = p.Choose(list)
		if err = v.removeSnapshots(ctx, removed); err == nil {
			return removed, nil
		}
		if !errors.Is(err, ErrNoSnapshot) {
			return nil, v.volumeError("prune", err)
		}
	}
}
