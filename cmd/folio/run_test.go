package main

import (
	"bytes"
	"strings"
	"testing"
	"time"
)

// runFolio runs the command and returns its exit code and what it wrote.
func runFolio(t *testing.T, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	var out, errs bytes.Buffer
	code = run(t.Context(), args, strings.NewReader(""), &out, &errs)
	return code, out.String(), errs.String()
}

func mustRun(t *testing.T, args ...string) string {
	t.Helper()
	code, stdout, stderr := runFolio(t, args...)
	if code != exitOK || stderr != "" {
		t.Fatalf("folio %q: exit code %d, %s", args, code, stderr)
	}
	return stdout
}

// waitFor waits until a condition holds that another process brings about.
func waitFor(t testing.TB, what string, holds func() bool) {
	t.Helper()
	tick, limit := time.NewTicker(time.Millisecond), time.After(20*time.Second)
	defer tick.Stop()
	for !holds() {
		select {
		case <-tick.C:
		case <-limit:
			t.Fatal("it does not happen:", what)
		}
	}
}
