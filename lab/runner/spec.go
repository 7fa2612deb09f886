package runner

import (
	"fmt"
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

// ParseSpec reads one.
func ParseSpec(text string) (Spec, error) {
	rest, api, _ := strings.Cut(text, ":")
	name, version, at := strings.Cut(rest, "@")
	if name == "" || at && version == "" || strings.ContainsAny(name+version, "/\\ ") {
		return Spec{}, fmt.Errorf("contender %q: write NAME, NAME@VERSION or NAME:API, as in modernc@v1.35.0", text)
	}
	return Spec{Name: name, Version: version, API: api}, nil
}

// ParseSpecs reads several.
func ParseSpecs(texts []string) (list []Spec, err error) {
	for _, text := range texts {
		s, err := ParseSpec(text)
		if err != nil {
			return nil, err
		}
		list = append(list, s)
	}
	return list, nil
}

// program names the program: a spec without its API.
func (s Spec) program() string {
	if s.Version == "" {
		return s.Name
	}
	return s.Name + "@" + s.Version
}

// String writes the spec in the form that ParseSpec reads.
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

// contenderDir returns the directory of a contender's program: one with a main.go, below dir or in
// a directory there.
func contenderDir(dir, name string) (found string, ok bool) {
	for _, pattern := range []string{dir, filepath.Join(dir, "*")} {
		if mains, _ := filepath.Glob(filepath.Join(pattern, name, "main.go")); len(mains) == 1 {
			return filepath.Dir(mains[0]), true
		}
	}
	return "", false
}

// All returns the contenders in a directory, ours first, and the versions that take part by
// default.
func All(dir string) ([]Spec, error) {
	var specs []Spec
	for _, depth := range []string{"*", filepath.Join("*", "*")} {
		mains, err := filepath.Glob(filepath.Join(dir, depth, "main.go"))
		if err != nil {
			return nil, err
		}
		for _, main := range mains {
			if s := (Spec{Name: filepath.Base(filepath.Dir(main))}); s.Name != "tailscale" {
				specs = append(specs, s)
			}
		}
	}
	slices.SortFunc(specs, func(a, b Spec) int { return strings.Compare(a.Name, b.Name) })
	for _, d := range defaults {
		if _, ok := contenderDir(dir, d.Name); ok {
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

// rank orders contenders: ours, the drivers, then all that is not SQLite.
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
