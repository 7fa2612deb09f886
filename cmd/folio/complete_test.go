package main

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/foliofs/folio/cmd/folio/internal/compare"
	"github.com/foliofs/folio/cmd/folio/internal/listing"
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
		{[]string{"export", "--format", "t"}, "tar tar.gz tar.zst :4"},
		{[]string{"export", "--format", "d"}, "dir :4"},
		{[]string{"convert", "--format", "v"}, "volume :4"},
		{[]string{"diff", "--attributes", ""}, "mode owner times xattrs all none :6"},
		{[]string{"diff", "--attributes", "mode,x"}, "mode,xattrs :6"},
		{[]string{"diff", "--attributes", "mode,m"}, ":6"},
		{[]string{"find", "--type", "f,b"}, "f,b block devices :6"},
		{[]string{"find", "-t", "l"}, "l symbolic links :6"},
		{[]string{"cp", "--reflink=a"}, "always auto :4"},
		{[]string{"mount", "-o", "ro,snapdir="}, "ro,snapdir=hidden ro,snapdir=none ro,snapdir=visible :6"},
		{[]string{"snapshot", "prune", volume, "--keep-daily", ""}, "unlimited :4"},
		{[]string{"convert", "--base", volume + ":do"}, volume + ":docs/ " + volume + ":done :6"},
		{[]string{"serve", "--users", dir + "/s"}, ":0"},
		{[]string{"serve", "--listen", ""}, ":4"},
		{[]string{"help", "unm"}, "unmount Unmount volumes :4"},
		{[]string{"help", "snapshot", "c"}, "create Give the state of a volume a name :4"},
		{[]string{"version", ""}, ":4"},
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

// Each value of a flag is completed, or is free, such as a number, a pattern or a new name.
func TestFlagCompletion(t *testing.T) {
	t.Parallel()
	free := []string{
		"after-context", "before-context", "context", "date", "exclude", "host", "include", "iname", "keep-within", "level", "listen",
		"max-depth", "max-size", "max-upload", "maxdepth", "mode", "name", "newer", "older", "regexp", "size", "trash", "trusted-proxy", "unnamed",
	}
	used := make(map[string]bool)
	var visit func(cmd *cobra.Command)
	visit = func(cmd *cobra.Command) {
		cmd.Flags().VisitAll(func(f *pflag.Flag) {
			_, byCommand := flagValues[cmd.Name()+" "+f.Name]
			_, byName := flagValues[f.Name]
			if takesValue(f) && !byCommand && !byName && !slices.Contains(free, f.Name) {
				t.Errorf("%s --%s: its value is neither completed nor free", cmd.CommandPath(), f.Name)
			}
			used[f.Name] = true
			used[cmd.Name()+" "+f.Name] = true
		})
		for _, sub := range cmd.Commands() {
			visit(sub)
		}
	}
	visit(new(command).root())
	for name := range flagValues {
		if !used[name] {
			t.Errorf("there is no flag %s", name)
		}
	}
	for _, name := range free {
		if !used[name] {
			t.Errorf("there is no flag --%s", name)
		}
	}
}

// The words that are offered are all that the flags take.
func TestFlagWords(t *testing.T) {
	t.Parallel()
	for name, value := range map[string]interface{ Set(string) error }{
		"diff attributes": new(compare.Attributes), "find type": new(listing.FileTypes),
	} {
		words, _ := flagValues[name](nil, nil, "")
		for _, word := range words {
			word, _, _ = strings.Cut(word, "\t")
			if err := value.Set(word); err != nil {
				t.Errorf("%s: %v", name, err)
			}
		}
	}
	for _, name := range []string{"export", "convert"} {
		words, _ := flagValues[name+" format"](nil, nil, "")
		cmd, _, err := new(command).root().Find([]string{name})
		if err != nil {
			t.Fatal(err)
		}
		usage := cmd.Flags().Lookup("format").Usage
		if want := strings.Join(words[:len(words)-1], ", ") + " or " + words[len(words)-1]; !strings.HasSuffix(usage, want) {
			t.Errorf("%s --format: %s; offered are %s", name, usage, want)
		}
	}
}
