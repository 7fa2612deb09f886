package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestCompletion(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	src, volume := filepath.Join(dir, "src"), filepath.Join(dir, "v:1.folio")
	if err := os.MkdirAll(filepath.Join(src, "docs", "adr"), 0o700); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"docs/design", "docs/engine", "done", "other", "odd\x1b"} {
		if err := os.WriteFile(filepath.Join(src, name), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	mustRun(t, "import", src, volume)
	tests := []struct {
		args []string
		want string
	}{
		{[]string{"cat", volume + ":do"}, volume + ":docs/ " + volume + ":done :6"},
		{[]string{"ls", volume + ":docs/"}, volume + ":docs/adr/ " + volume + ":docs/design " + volume + ":docs/engine :6"},
		{[]string{"ls", volume + ":nothere/"}, ":6"},
		{[]string{"ls", volume + ":od"}, ":6"},
		{[]string{"ls", dir + "/v"}, ":0"},
		{[]string{"export", volume + ":do"}, volume + ":docs/ " + volume + ":done :6"},
		{[]string{"export", volume, "x"}, ":0"},
		{[]string{"cp", "-r", "x", volume + ":do"}, volume + ":docs/ " + volume + ":done :6"},
		{[]string{"put", dir + "/s"}, ":0"},
		{[]string{"get", volume + ":don"}, volume + ":done :6"},
		{[]string{"rm", volume + ":done", volume + ":docs/"}, volume + ":docs/adr/ " + volume + ":docs/design " + volume + ":docs/engine :6"},
		{[]string{"diff", "x", volume + ":don"}, volume + ":done :6"},
		{[]string{"diff", dir + "/s"}, ":0"},
		{[]string{"chmod", "u"}, ":4"},
		{[]string{"mount", volume + ":do"}, volume + ":docs/ " + volume + ":done :6"},
		{[]string{"mount", volume, "x"}, ":16"},
		{[]string{"mounts", ""}, ":4"},
		{[]string{"chmod", "644", volume + ":don"}, volume + ":done :6"},
	}
	for _, tt := range tests {
		code, stdout, _ := runFolio(t, append([]string{"__complete"}, tt.args...)...)
		if got := strings.Join(strings.Fields(stdout), " "); code != exitOK || got != tt.want {
			t.Errorf("%q: exit code %d, %q, want %q", tt.args, code, got, tt.want)
		}
	}
	for _, shell := range []string{"bash", "zsh", "fish", "powershell"} {
		if script := mustRun(t, "completion", shell); !strings.Contains(script, "folio") {
			t.Errorf("%s: %q", shell, script)
		}
	}
}
