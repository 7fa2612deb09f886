package main

import (
	"runtime/debug"
	"testing"
)

// TestVersionFrom has builds of a tag in a clone, of a changed clone, by go install of a tag and of
// a commit without one, and without anything noted.
func TestVersionFrom(t *testing.T) {
	t.Parallel()
	const commit = "05946c21eae905ee6fb7048db148529728a11f48"
	clone := []debug.BuildSetting{{Key: "vcs.revision", Value: commit}, {Key: "vcs.modified", Value: "false"}}
	changed := []debug.BuildSetting{{Key: "vcs.revision", Value: commit}, {Key: "vcs.modified", Value: "true"}}
	for name, tt := range map[string]struct {
		version  string
		settings []debug.BuildSetting
		want     buildVersion
	}{
		"tag in a clone":      {"v0.1.0", clone, buildVersion{Version: "v0.1.0", Commit: commit}},
		"changed clone":       {"v0.0.0-20261127090138-05946c21eae9+dirty", changed, buildVersion{Version: "v0.0.0-20261127090138-05946c21eae9+dirty", Commit: commit, Modified: true}},
		"install of a tag":    {"v0.1.0", nil, buildVersion{Version: "v0.1.0"}},
		"install of a commit": {"v0.0.0-20261127090138-05946c21eae9", nil, buildVersion{Version: "v0.0.0-20261127090138-05946c21eae9", Commit: "05946c21eae9"}},
		"commit after a tag":  {"v0.1.1-0.20261127090138-05946c21eae9", nil, buildVersion{Version: "v0.1.1-0.20261127090138-05946c21eae9", Commit: "05946c21eae9"}},
		"prerelease":          {"v0.1.0-rc.1", nil, buildVersion{Version: "v0.1.0-rc.1"}},
		"nothing noted":       {"(devel)", nil, buildVersion{Version: "(devel)"}},
		"none":                {"", nil, buildVersion{Version: "(devel)"}},
	} {
		got := versionFrom(&debug.BuildInfo{Main: debug.Module{Version: tt.version}, Settings: tt.settings})
		got.Go, got.System, got.Format = "", "", 0
		if got != tt.want {
			t.Errorf("%s: %+v, want %+v", name, got, tt.want)
		}
	}
}
