package runner

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// A Spec names contenders as the user does: NAME[@VERSION][:API]. Without an API it means all that there are.
type Spec struct {
	Name, Version, API string
	only               string // the one workload that it takes part in; "" is all
}

// ParseSpec reads one.
func ParseSpec(text string) (Spec, error) {
	rest, api, _ := strings.Cut(text, ":")
	name, version, at := strings.Cut(rest, "@")
	if name == "" || at && version == "" || strings.ContainsAny(name+version, "/\\ ") {
		return Spec{}, fmt.Errorf("contender %q: write NAME, NAME@VERSION or NAME:API, as in modernc@v1.35.0", text)
	}
	return Spec{Name: name, Version: version, API: api}, nil
}

// program names what is built: a spec without its API.
func (s Spec) program() string {
	if s.Version == "" {
		return s.Name
	}
	return s.Name + "@" + s.Version
}

// String is the spec as it is written.
func (s Spec) String() string {
	if s.API == "" {
		return s.program()
	}
	return s.program() + ":" + s.API
}

// defaults are the versions that take part besides those in the contenders' own go.mod: those of the published finding that
// a driver's version is a contender too, and what cannot be required everywhere.
var defaults = []Spec{
	{Name: "modernc", Version: "v1.35.0", only: "lookup"},
	{Name: "modernc", Version: "v1.46.1", only: "lookup"},
	{Name: "tailscale", Version: "latest"},
}

// All returns the contenders in a directory: each directory below it that is a module, ours first, and the versions that take part
// by default.
func All(dir string) ([]Spec, error) {
	mods, err := filepath.Glob(filepath.Join(dir, "*", "go.mod"))
	if err != nil {
		return nil, err
	}
	var specs []Spec
	for _, mod := range mods {
		if s := (Spec{Name: filepath.Base(filepath.Dir(mod))}); s.Name != "tailscale" {
			specs = append(specs, s)
		}
	}
	for _, d := range defaults {
		if _, err := os.Stat(filepath.Join(dir, d.Name, "go.mod")); err == nil {
			specs = append(specs, d)
		}
	}
	slices.SortStableFunc(specs, func(a, b Spec) int { return rank(a) - rank(b) })
	if len(specs) == 0 {
		return nil, fmt.Errorf("%s: no contenders there; run this in the project's directory, by go -C lab run", dir)
	}
	return specs, nil
}

// Driver reports whether the contender is a driver of SQLite, which can run any statement.
func (s Spec) Driver() bool {
	return rank(s) == rankDriver && s.only == "" && s.Name != "shell" && s.Name != "sqlstore"
}

// rankDriver is the place of the drivers.
const rankDriver = 2

// rank orders contenders: ours, the drivers, then what is not SQLite.
func rank(s Spec) int {
	switch s.Name {
	case "engine":
		return 0
	case "folio":
		return 1
	case "bbolt", "pebble", "postgres":
		return 3
	case "files", "root":
		return 4
	}
	return rankDriver
}
