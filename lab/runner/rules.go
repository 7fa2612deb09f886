package runner

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/foliofs/folio/lab/result"
	"github.com/foliofs/folio/lab/workload"
)

// checkAbout is rule 3: a contender that measures SQLite reports its version and its compile
// options.
func checkAbout(a *workload.AboutAPI) error {
	switch {
	case a.Error != "":
		return errors.New(OneLine([]byte(a.Error)))
	case a.Kind == string(result.KindSQL) && (a.SQLite == "" || len(a.CompileOptions) == 0):
		return errors.New("it does not tell the version and the compile options of its SQLite")
	}
	return nil
}

// shown are the settings that a connection to SQLite must tell.
var shown = []string{"page_size", "cache_size", "mmap_size", "journal_mode", "synchronous"}

// checkReady checks the store that a contender has opened, before the measurement: rules 1, 2, 3
// and 8.
func checkReady(w *workload.Workload, j *workload.Job, kind string, r *workload.Ready) error {
	if r.Group != j.Group {
		return settingsError("the store promises %q, the case %q", r.Group, j.Group)
	}
	if len(r.Settings) == 0 {
		return settingsError("no connection told its settings")
	}
	for i, s := range r.Settings {
		if !maps.Equal(s, r.Settings[0]) {
			return settingsError("connection %d differs from the first: %s", i+1, difference(r.Settings[0], s))
		}
	}
	first := r.Settings[0]
	if w.Settings != nil {
		for name, want := range w.Settings(j, kind) {
			if got := first[name]; got != want {
				return settingsError("%s is %q, must be %q", name, got, want)
			}
		}
	}
	if kind == string(result.KindSQL) && !w.Process {
		for _, name := range shown {
			if first[name] == "" {
				return settingsError("it does not tell its %s", name)
			}
		}
	}
	if w.Warm != nil && r.WarmUp.Ops < w.Warm(j) {
		return settingsError("warmed up with %d operations, want %d", r.WarmUp.Ops, w.Warm(j))
	}
	return nil
}

func settingsError(format string, args ...any) error {
	return &failure{result.FailureSettings, fmt.Errorf(format, args...)}
}

// difference lists the settings that differ between two sets.
func difference(a, b map[string]string) string {
	var out []string
	for _, name := range slices.Sorted(maps.Keys(a)) {
		if a[name] != b[name] {
			out = append(out, fmt.Sprintf("%s is %q and %q", name, a[name], b[name]))
		}
	}
	for _, name := range slices.Sorted(maps.Keys(b)) {
		if _, ok := a[name]; !ok {
			out = append(out, fmt.Sprintf("%s is only here", name))
		}
	}
	return strings.Join(out, ", ")
}

// checkDone checks the work of a contender: rules 5, 6 and 7.
func checkDone(w *workload.Workload, j *workload.Job, kind string, d *workload.Done) error {
	want, err := w.Want(j)
	if err != nil {
		return err
	}
	if d.Answer != want {
		return &failure{result.FailureWrong, fmt.Errorf("the answer is %d items with digest %x, want %d with %x", d.Answer.Count, d.Answer.Digest, want.Count, want.Digest)}
	}
	if w.Ops != nil && d.Ops != w.Ops(j) {
		return &failure{result.FailureWrong, fmt.Errorf("%d operations were done, not %d", d.Ops, w.Ops(j))}
	}
	if d.Seconds <= 0 || d.Ops <= 0 {
		return &failure{result.FailureGarbage, fmt.Errorf("%d operations in %v s", d.Ops, d.Seconds)}
	}
	return checkPrepares(j, kind, d)
}

// checkPrepares is rule 5: raw prepares a statement for each operation, prepared only a few for
// each connection.
func checkPrepares(j *workload.Job, kind string, d *workload.Done) error {
	if kind != string(result.KindSQL) {
		return nil
	}
	switch few := int64(16 * max(1, j.Values.Int("goroutines"))); {
	case j.Values["mode"] == "raw" && d.Prepares < d.Ops:
		return settingsError("raw prepared %d statements for %d operations", d.Prepares, d.Ops)
	case j.Values["mode"] == "prepared" && d.Prepares > few:
		return settingsError("prepared statements were prepared %d times", d.Prepares)
	}
	return nil
}
