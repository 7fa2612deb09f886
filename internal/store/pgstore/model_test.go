//go:build unix

package pgstore_test

import (
	"cmp"
	"fmt"
	"hash/maphash"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/anishathalye/porcupine"
)

// An operation of a history, as the model knows it.
type historyInput struct {
	Op   string
	A, B string // paths
	Text string // content
}

// reads reports whether the operation changes nothing.
func (in *historyInput) reads() bool {
	return in.Op == "read" || in.Op == "two" || in.Op == "stat" || in.Op == "list"
}

// A historyOutput is what an operation said.
type historyOutput struct {
	Err  string // "" if it succeeded, unknown, or a kind of error
	Text string
}

// unknown is the outcome of an operation that may have happened, now or later, or not at all.
const unknown = "unknown"

// A tree is a state of the model: the inode of each path, and the content of each file. Numbers of
// inodes count from 1 in the order of the paths, so that trees that look the same are the same.
type tree struct {
	inodes   map[string]int // 0 is a directory
	contents map[int]string
}

// emptyTree is the state of a new volume.
const emptyTree = ""

// parseTree reads a state. It has a line for each path, and the content of each file behind its
// first path.
func parseTree(state string) *tree {
	t := &tree{inodes: make(map[string]int), contents: make(map[int]string)}
	for line := range strings.Lines(state) {
		var ino int
		name, rest, _ := strings.Cut(strings.TrimSuffix(line, "\n"), " ")
		number, content, first := strings.Cut(rest, " ")
		_, _ = fmt.Sscan(number, &ino)
		t.inodes[name] = ino
		if first {
			t.contents[ino] = content
		}
	}
	return t
}

func (t *tree) String() string {
	var b strings.Builder
	numbers := make(map[int]int)
	for _, name := range slices.Sorted(maps.Keys(t.inodes)) {
		ino := t.inodes[name]
		n, seen := numbers[ino]
		switch {
		case ino == 0:
			fmt.Fprintf(&b, "%s 0\n", name)
		case seen:
			fmt.Fprintf(&b, "%s %d\n", name, n)
		default:
			numbers[ino] = len(numbers) + 1
			fmt.Fprintf(&b, "%s %d %s\n", name, numbers[ino], t.contents[ino])
		}
	}
	return b.String()
}

// at returns the inode of a path, and the error of a call that looks it up.
func (t *tree) at(name string) (ino int, err string) {
	if err := t.parent(name); err != "" {
		return 0, err
	}
	ino, ok := t.inodes[name]
	if !ok {
		return 0, "not there"
	}
	return ino, ""
}

// parent returns the error if the directory of a path is none.
func (t *tree) parent(name string) string {
	dir := path.Dir(name)
	if dir == "." {
		return ""
	}
	ino, ok := t.inodes[dir]
	switch {
	case !ok:
		return "not there"
	case ino != 0:
		return "no directory"
	}
	return ""
}

// file is at for a call that reads a file.
func (t *tree) file(name string) (content, err string) {
	ino, err := t.at(name)
	if err == "" && ino == 0 {
		err = "directory"
	}
	return t.contents[ino], err
}

// set replaces the content of a file, which it makes if there is none.
func (t *tree) set(name, content string) (err string) {
	ino, err := t.at(name)
	switch {
	case err == "" && ino == 0:
		return "directory"
	case err == "":
	case t.parent(name) != "":
		return err
	default:
		ino = 1
		for t.used(ino) {
			ino++
		}
		t.inodes[name] = ino
	}
	t.contents[ino] = content
	return ""
}

func (t *tree) used(ino int) bool { return t.links(ino) > 0 }

// links counts the names of a file.
func (t *tree) links(ino int) (n int) {
	for _, other := range t.inodes {
		if other == ino {
			n++
		}
	}
	return n
}

// below returns the paths in a directory, or in the whole tree below it.
func (t *tree) below(dir string, all bool) (list []string) {
	for name := range t.inodes {
		if rest, ok := strings.CutPrefix(name, dir+"/"); ok && (all || !strings.Contains(rest, "/")) {
			list = append(list, name)
		}
	}
	slices.Sort(list)
	return list
}

// describe is the answer of stat.
func (t *tree) describe(name string, ino int) string {
	if ino != 0 {
		return fmt.Sprintf("file of %d, %d names", len(t.contents[ino]), t.links(ino))
	}
	return "directory"
}

// do makes an operation, and returns what it says.
func (t *tree) do(in historyInput) historyOutput {
	switch in.Op {
	case "create":
		_, err := t.at(in.A)
		switch {
		case err == "":
			return historyOutput{Err: "there"}
		case t.parent(in.A) != "":
			return historyOutput{Err: err}
		}
		return historyOutput{Err: t.set(in.A, "")}
	case "write":
		return historyOutput{Err: t.set(in.A, in.Text)}
	case "read":
		content, err := t.file(in.A)
		return answer(content, err)
	case "two":
		content, err := t.file(in.A)
		if err != "" {
			return historyOutput{Err: err}
		}
		other, err := t.file(in.B)
		return answer(content+" and "+other, err)
	case "append":
		content, err := t.file(in.A)
		return historyOutput{Err: cmp.Or(err, t.set(in.A, content+in.Text))}
	case "copy":
		content, err := t.file(in.A)
		if err == "" {
			err = t.set(in.B, content)
		}
		return historyOutput{Err: err}
	case "stat":
		ino, err := t.at(in.A)
		return answer(t.describe(in.A, ino), err)
	}
	return t.doNames(in)
}

func answer(text, err string) historyOutput {
	if err != "" {
		return historyOutput{Err: err}
	}
	return historyOutput{Text: text}
}

// doNames is do for operations on names.
func (t *tree) doNames(in historyInput) historyOutput {
	ino, err := t.at(in.A)
	switch in.Op {
	case "list":
		if err == "" && ino != 0 {
			err = "no directory"
		}
		names := t.below(in.A, false)
		for i, name := range names {
			names[i] = path.Base(name)
		}
		return answer(strings.Join(names, " "), err)
	case "mkdir":
		switch {
		case err == "":
			return historyOutput{Err: "there"}
		case t.parent(in.A) != "":
			return historyOutput{Err: err}
		}
		t.inodes[in.A] = 0
		return historyOutput{}
	case "remove":
		switch {
		case err != "":
			return historyOutput{Err: err}
		case ino == 0 && len(t.below(in.A, false)) > 0:
			return historyOutput{Err: "not empty"}
		}
		delete(t.inodes, in.A)
		return historyOutput{}
	}
	if err := cmp.Or(t.parent(in.A), t.parent(in.B), err); err != "" {
		return historyOutput{Err: err}
	}
	other, otherErr := t.at(in.B)
	if in.Op == "link" {
		return t.link(in, ino, otherErr == "")
	}
	return t.rename(in, ino, other, otherErr == "")
}

func (t *tree) link(in historyInput, ino int, there bool) historyOutput {
	switch {
	case there:
		return historyOutput{Err: "there"}
	case ino == 0:
		return historyOutput{Err: "not permitted"}
	}
	t.inodes[in.B] = ino
	return historyOutput{}
}

func (t *tree) rename(in historyInput, ino, other int, there bool) historyOutput {
	switch {
	case there && other == 0:
		return historyOutput{Err: "there"}
	case ino == 0 && strings.HasPrefix(in.B, in.A+"/"):
		return historyOutput{Err: "invalid"}
	case there && ino == 0:
		return historyOutput{Err: "no directory"}
	case there && ino == other:
		return historyOutput{}
	}
	for _, name := range t.below(in.A, true) {
		t.inodes[in.B+name[len(in.A):]] = t.inodes[name]
		delete(t.inodes, name)
	}
	t.inodes[in.B] = ino
	delete(t.inodes, in.A)
	return historyOutput{}
}

// step returns the states in which an operation can leave a state, given what it said: none if it
// could not say that there, two if it is unknown whether it has happened.
func step(state string, in historyInput, got historyOutput) []any {
	t := parseTree(state)
	want := t.do(in)
	switch {
	case got.Err == unknown && want.Err == "":
		return []any{state, t.String()}
	case got.Err == unknown:
		return []any{state}
	case want != got:
		return nil
	case want.Err != "":
		return []any{state}
	}
	return []any{t.String()}
}

// An operation is the input of an operation of package porcupine. It remembers its steps, as a
// check makes the same ones often.
type operation struct {
	historyInput
	out   historyOutput
	steps map[string][]any
}

func (o *operation) step(state string) []any {
	next, ok := o.steps[state]
	if !ok {
		next = step(state, o.historyInput, o.out)
		o.steps[state] = next
	}
	return next
}

var hashSeed = maphash.MakeSeed()

var nondeterministic = porcupine.NondeterministicModel{
	Init:          func() []any { return []any{emptyTree} },
	Step:          func(state, input, _ any) []any { return input.(*operation).step(state.(string)) },
	Hash:          func(state any) uint64 { return maphash.String(hashSeed, state.(string)) },
	DescribeState: func(state any) string { return state.(string) },
	DescribeOperation: func(input, _ any) string {
		o := input.(*operation)
		return fmt.Sprintf("%+v: %+v", o.historyInput, o.out)
	},
}

// treeModel is the model for package porcupine. Its states are sets of trees.
var treeModel = nondeterministic.ToModel()
