package main

import (
	"fmt"
	"runtime"
	"runtime/debug"
	"strings"

	"github.com/spf13/cobra"

	"github.com/foliofs/folio/cmd/folio/internal/failure"
	"github.com/foliofs/folio/cmd/folio/internal/mountpoint"
	"github.com/foliofs/folio/cmd/folio/internal/value"
	"github.com/foliofs/folio/internal/store"
)

// A buildVersion says which build of the program this is.
type buildVersion struct {
	Version  string `json:"version"`            // of the module
	Commit   string `json:"commit,omitempty"`   // that it was built from, if the build notes it
	Modified bool   `json:"modified,omitempty"` // the files were not those of the commit
	Go       string `json:"go"`
	System   string `json:"system"` // with the processor
	Format   int    `json:"format"` // the newest format of volumes that it reads and writes
	FUSE     string `json:"fuse"`   // "yes", or why volumes cannot be mounted here
}

func versionFrom(info *debug.BuildInfo) buildVersion {
	v := buildVersion{
		Version: "(devel)", Go: runtime.Version(), System: runtime.GOOS + "/" + runtime.GOARCH, Format: store.CloneVersion,
	}
	if info == nil {
		return v
	}
	if info.Main.Version != "" {
		v.Version = info.Main.Version
	}
	for _, s := range info.Settings {
		switch s.Key {
		case "vcs.revision":
			v.Commit = s.Value
		case "vcs.modified":
			v.Modified = s.Value == "true"
		}
	}
	if v.Commit == "" { // go install does not note it; the version of a commit without a tag has its beginning
		v.Commit = commitOf(v.Version)
	}
	return v
}

// commitOf returns the beginning of the commit that a pseudo-version ends with:
// v0.0.0-20261127090138-05946c21eae9. It returns "" for other versions.
func commitOf(version string) string {
	rest, commit := version[:max(0, strings.LastIndexByte(version, '-'))], version[strings.LastIndexByte(version, '-')+1:]
	if len(rest) < 15 || len(commit) != 12 || strings.Trim(rest[len(rest)-14:], "0123456789") != "" {
		return ""
	}
	return commit
}

// String is the line of --version.
func (v *buildVersion) String() string {
	return fmt.Sprintf("folio %s %s %s", v.Version, v.Go, v.System)
}

func thisVersion() buildVersion {
	info, _ := debug.ReadBuildInfo()
	return versionFrom(info)
}

func (c *command) versionCommand() *cobra.Command {
	var json bool
	cmd := newCommand("version", "Tell which build of folio this is",
		`Tell the version of folio, the commit that it was built from, the version of Go, the system, the
newest format of volumes that it reads and writes, and whether this system can mount volumes, by
FUSE. folio --version prints most of it in one line.

With --json: one object; docs/reference/json.md describes it.`,
		"  folio version",
		between(0, 0, "no arguments"))
	cmd.ValidArgsFunction = cobra.NoFileCompletions
	cmd.RunE = func(*cobra.Command, []string) error {
		v := thisVersion()
		v.FUSE = able(mountpoint.Able())
		if json {
			return value.WriteJSON(c.Stdout, v)
		}
		c.printVersion(&v)
		return nil
	}
	cmd.Flags().BoolVar(&json, "json", false, "one JSON object")
	return cmd
}

func (c *command) printVersion(v *buildVersion) {
	commit := v.Commit
	switch {
	case commit == "":
		commit = "not noted by the build"
	case v.Modified:
		commit += ", with changes"
	}
	fmt.Fprintf(c.Stdout, "version  %s\ncommit   %s\ngo       %s\nsystem   %s\nformat   %d\nfuse     %s\n",
		v.Version, commit, v.Go, v.System, v.Format, v.FUSE)
}

// able returns yes, or the reason why a system cannot do something.
func able(err error) string {
	if err == nil {
		return "yes"
	}
	return "no: " + failure.Message(err)
}
