package runner

import (
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"
)

// A Spec names contenders as the user does: NAME[@VERSION][:API]. Without an API it means all that
// there are.
type Spec struct {
	Name, Version, API string
	only               string // the one workload that it takes part in; "" is all
}

// ParseSpecs reads several.
func ParseSpecs(texts []string) (list []Spec, err error) {
	for _, text := range texts {
		rest, api, _ := strings.Cut(text, ":")
		name, version, at := strings.Cut(rest, "@")
		if name == "" || at && version == "" || strings.ContainsAny(name+version, "/\\ ") {
			return nil, fmt.Errorf("contender %q: write NAME, NAME@VERSION or NAME:API, as in modernc@v1.35.0", text)
		}
		list = append(list, Spec{Name: name, Version: version, API: api})
	}
	return list, nil
}

// program names the program: a spec without its API. Two contenders that differ in their API share
// a program.
func (s Spec) program() string {
	if s.Version == "" {
		return s.Name
	}
	return s.Name + "@" + s.Version
}

// String writes the spec in the form that ParseSpecs reads.
func (s Spec) String() string {
	if s.API == "" {
		return s.program()
	}
	return s.program() + ":" + s.API
}

// defaults are versions that take part next to those in go.mod: the versions of the published
// finding that a driver's version is a contender too, and a library that some registries refuse.
var defaults = []Spec{
	{Name: "modernc", Version: "v1.35.0", only: "lookup"},
	{Name: "modernc", Version: "v1.46.1", only: "lookup"},
	{Name: "tailscale", Version: "latest"},
}

// mains returns the directories of the contenders' programs by name: those with a main.go, below
// dir or in a directory there.
func mains(dir string) map[string]string {
	found := make(map[string]string)
	for _, pattern := range []string{"*", filepath.Join("*", "*")} {
		files, _ := filepath.Glob(filepath.Join(dir, pattern, "main.go")) // the pattern is right
		for _, file := range files {
			found[filepath.Base(filepath.Dir(file))] = filepath.Dir(file)
		}
	}
	return found
}

// All returns the contenders in a directory, ours first, and the versions that take part by
// default.
func All(dir string) ([]Spec, error) {
	var specs []Spec
	found := mains(dir)
	for _, name := range slices.Sorted(maps.Keys(found)) {
		if !outside(found[name]) {
			specs = append(specs, Spec{Name: name})
		}
	}
	for _, d := range defaults {
		if found[d.Name] != "" {
			specs = append(specs, d)
		}
	}
	if len(specs) == 0 {
		return nil, fmt.Errorf("%s: no contenders there; run this in the project's directory, by go -C lab run", dir)
	}
	slices.SortStableFunc(specs, func(a, b Spec) int { return rank(a) - rank(b) })
	return specs, nil
}

// Driver reports whether the contender is a driver of SQLite, which can run any statement. Ours
// refuses some.
func (s Spec) Driver() bool {
	return s.Name == "foliosql" || rank(s) == rankDriver && s.only == "" && s.Name != "shell" && s.Name != "sqlstore"
}

// rankDriver is the place of the drivers.
const rankDriver = 2

// rank orders contenders: ours, the drivers, then all that is not SQLite.
func rank(s Spec) int {
	switch s.Name {
	case "engine":
		return 0
	case "folio", "foliosql":
		return 1
	case "bbolt", "pebble", "postgres":
		return 3
	case "files", "root":
		return 4
	}
	return rankDriver
}
