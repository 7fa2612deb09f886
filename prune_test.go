package folio

import (
	"errors"
	"io/fs"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// timeline returns snapshots that are named by their times.
func timeline(t *testing.T, times ...string) (list []Snapshot) {
	t.Helper()
	for _, text := range times {
		at, err := time.Parse("2006-01-02 15:04", text)
		if err != nil {
			t.Fatal(err)
		}
		list = append(list, Snapshot{Name: text, Time: at})
	}
	return list
}

// names returns the names of snapshots, with commas between.
func names(list []Snapshot) string {
	all := make([]string, len(list))
	for i := range list {
		all[i] = list[i].Name
	}
	return strings.Join(all, ", ")
}

// TestPrunePolicy compares policies with what was worked out by hand.
func TestPrunePolicy(t *testing.T) {
	t.Parallel()
	list := timeline(
		t,
		"2023-12-31 23:30", // a Sunday, week 52 of 2023
		"2024-01-01 00:10", // a Monday, week 1 of 2024
		"2024-12-30 12:00", // a Monday, week 1 of 2025
		"2025-01-01 09:00", // a Wednesday of the same week
		"2025-02-28 09:00",
		"2025-03-30 10:00",
		"2025-03-30 10:59",
		"2025-03-30 11:00",
		"2025-03-31 10:30",
	)
	tests := []struct {
		about  string
		policy PrunePolicy
		kept   string
	}{
		{"no rule", PrunePolicy{}, names(list)},
		{"the newest", PrunePolicy{Last: 1}, "2025-03-31 10:30"},
		{"the two newest", PrunePolicy{Last: 2}, "2025-03-30 11:00, 2025-03-31 10:30"},
		{"more than there are", PrunePolicy{Last: 100}, names(list)},
		{"no limit", PrunePolicy{Last: -1}, names(list)},
		{"hours", PrunePolicy{Hourly: 3}, "2025-03-30 10:59, 2025-03-30 11:00, 2025-03-31 10:30"},
		{"the same hour of two days", PrunePolicy{Hourly: 1}, "2025-03-31 10:30"},
		{"days", PrunePolicy{Daily: 3}, "2025-02-28 09:00, 2025-03-30 11:00, 2025-03-31 10:30"},
		{"weeks across a year", PrunePolicy{Weekly: 4}, "2025-01-01 09:00, 2025-02-28 09:00, 2025-03-30 11:00, 2025-03-31 10:30"},
		{
			"the first week of two years",
			PrunePolicy{Weekly: 5},
			"2024-01-01 00:10, 2025-01-01 09:00, 2025-02-28 09:00, 2025-03-30 11:00, 2025-03-31 10:30",
		},
		{"months", PrunePolicy{Monthly: 3}, "2025-01-01 09:00, 2025-02-28 09:00, 2025-03-31 10:30"},
		{"years", PrunePolicy{Yearly: 2}, "2024-12-30 12:00, 2025-03-31 10:30"},
		{"all years", PrunePolicy{Yearly: -1}, "2023-12-31 23:30, 2024-12-30 12:00, 2025-03-31 10:30"},
		{
			"two rules, each by itself",
			PrunePolicy{Daily: 1, Monthly: 2},
			"2025-02-28 09:00, 2025-03-31 10:30",
		},
		{
			"a rule that is not used up keeps the oldest",
			PrunePolicy{Yearly: 5},
			"2023-12-31 23:30, 2024-12-30 12:00, 2025-03-31 10:30",
		},
		{"hours back", PrunePolicy{Within: PrunePeriod{Hours: 24}}, "2025-03-30 10:59, 2025-03-30 11:00, 2025-03-31 10:30"},
		{"not as old as that", PrunePolicy{Within: PrunePeriod{Hours: 23, Days: 0}}, "2025-03-31 10:30"},
		{"days back", PrunePolicy{Within: PrunePeriod{Days: 2}}, "2025-03-30 10:00, 2025-03-30 10:59, 2025-03-30 11:00, 2025-03-31 10:30"},
		{ // the month before 31 March ends on 31 February, which is 3 March
			"a month back",
			PrunePolicy{Within: PrunePeriod{Months: 1}},
			"2025-03-30 10:00, 2025-03-30 10:59, 2025-03-30 11:00, 2025-03-31 10:30",
		},
		{
			"years back, and the oldest of all",
			PrunePolicy{Within: PrunePeriod{Years: 1}, Yearly: 4},
			"2023-12-31 23:30, 2024-12-30 12:00, 2025-01-01 09:00, 2025-02-28 09:00, 2025-03-30 10:00, 2025-03-30 10:59, 2025-03-30 11:00, 2025-03-31 10:30",
		},
	}
	now := list[len(list)-1].Time.Add(time.Minute)
	for _, tt := range tests {
		kept, removed := tt.policy.choose(list, now)
		if got := names(kept); got != tt.kept {
			t.Errorf("%s: kept %s, want %s", tt.about, got, tt.kept)
		}
		if len(kept)+len(removed) != len(list) {
			t.Errorf("%s: %d kept and %d removed of %d", tt.about, len(kept), len(removed), len(list))
		}
	}
}

// TestPruneOddTimes has clocks that were wrong, and time zones.
func TestPruneOddTimes(t *testing.T) {
	t.Parallel()
	list := timeline(t, "2025-03-01 00:00", "2031-01-01 00:00", "2025-02-01 00:00")
	now := list[0].Time.Add(time.Hour)
	kept, removed := PrunePolicy{Within: PrunePeriod{Days: 3}}.choose(list, now)
	if got := names(kept); got != "2025-03-01 00:00, 2031-01-01 00:00" || names(removed) != "2025-02-01 00:00" {
		t.Errorf("with one of the future: kept %s", got)
	}
	if names(list) != "2025-03-01 00:00, 2031-01-01 00:00, 2025-02-01 00:00" {
		t.Error("the caller's list was sorted")
	}
	east := time.FixedZone("east", 3*60*60)
	list = timeline(t, "2025-03-01 20:30", "2025-03-01 21:30")
	if kept, _ := (PrunePolicy{Daily: 1}).choose(list, now); names(kept) != "2025-03-01 21:30" {
		t.Errorf("one day in UTC: kept %s", names(kept))
	}
	for i := range list {
		list[i].Time = list[i].Time.In(east)
	}
	if kept, _ := (PrunePolicy{Daily: 2}).choose(list, now); len(kept) != 2 {
		t.Errorf("two days in the east: kept %s", names(kept))
	}
	if kept, removed := (PrunePolicy{Daily: 2}).choose(nil, now); len(kept)+len(removed) > 0 {
		t.Error("snapshots from nowhere")
	}
}

func TestPrune(t *testing.T) {
	t.Parallel()
	v, err := Open(filepath.Join(t.TempDir(), "v.folio"), &Options{Create: true})
	if err != nil {
		t.Fatal(err)
	}
	defer v.Close()
	for _, name := range []string{"a", "b", "c"} {
		if err := v.CreateSnapshot(t.Context(), name); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := v.Prune(t.Context(), PrunePolicy{}); !errors.Is(err, fs.ErrInvalid) {
		t.Errorf("without a rule: %v", err)
	}
	removed, err := v.Prune(t.Context(), PrunePolicy{Last: 1})
	if err != nil || names(removed) != "a, b" {
		t.Errorf("removed %s, %v", names(removed), err)
	}
	removed, err = v.Prune(t.Context(), PrunePolicy{Last: 1})
	if err != nil || len(removed) > 0 {
		t.Errorf("again: removed %s, %v", names(removed), err)
	}
	if left, err := v.Snapshots(t.Context()); err != nil || names(left) != "c" {
		t.Errorf("left: %s, %v", names(left), err)
	}
}
