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
	mustRun(t, "snapshot", "create", volume, "monday")
	mustRun(t, "snapshot", "create", volume, "morning")
	mustRun(t, "rm", volume+":done")
	mustRun(t, "touch", volume+":done", volume+":at@home")
	tests := []struct {
		args []string
		want string
	}{
		{[]string{"cat", volume + ":do"}, volume + ":docs/ " + volume + ":done :6"},
		{[]string{"ls", volume + ":docs/"}, volume + ":docs/adr/ " + volume + ":docs/design " + volume + ":docs/engine :6"},
		{[]string{"ls", volume + ":nothere/"}, ":6"},
		{[]string{"ls", volume + ":od"}, ":6"},
		{[]string{"ls", dir + "/v"}, ":0"},
		{[]string{"ls", volume + "@mo"}, volume + "@monday " + volume + "@morning :6"},
		{[]string{"ls", volume + "@mor"}, volume + "@morning :6"},
		{[]string{"ls", volume + "@x"}, ":0"},
		{[]string{"cat", volume + "@monday:do"}, volume + "@monday:docs/ " + volume + "@monday:done :6"},
		{[]string{"cat", volume + "@monday:docs/a"}, volume + "@monday:docs/adr/ :6"},
		{[]string{"cat", volume + "@none:"}, ":6"},
		{[]string{"cat", volume + ":at@"}, volume + ":at@home :6"},
		{[]string{"snapshot", "remove", volume, "mon"}, "monday :4"},
		{[]string{"snapshot", "create", volume[:len(volume)-1]}, ":0"},
		{[]string{"snapshot", "c"}, "create Give the state of a volume a name :4"},
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
