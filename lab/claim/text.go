package claim

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"

	"golang.org/x/perf/benchfmt"
)

// Samples of benchmarks and of commands are kept in Go's benchmark format, so that benchstat reads
// them too. A line "round: N" begins each round, by which a run that was interrupted knows how many
// it has.

// readRounds reads a file of samples, and tells the last whole round. A file that is not there has
// none.
func readRounds(path string) (s Samples, last int, err error) {
	s = make(Samples)
	text, err := os.ReadFile(path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, 0, err
	}
	r := benchfmt.NewReader(bytes.NewReader(text), path)
	for r.Scan() {
		b, ok := r.Result().(*benchfmt.Result)
		if !ok {
			continue // other output of the benchmarks
		}
		if last, err = strconv.Atoi(b.GetConfig("round")); err != nil {
			return nil, 0, fmt.Errorf("%s: %s stands in no round", path, b.Name)
		}
		for _, v := range b.Values {
			if v.OrigUnit != "" {
				v.Value, v.Unit = v.OrigValue, v.OrigUnit
			}
			s.add(fullName(b.Name), v.Unit, v.Value)
		}
	}
	return s, last, r.Err()
}

// fullName is the name of a benchmark, without the number of processors at its end.
func fullName(n benchfmt.Name) string {
	base, parts := n.Parts()
	full := string(base)
	for _, part := range parts {
		if part[0] == '/' {
			full += string(part)
		}
	}
	return full
}

// appendRound adds a round to a file of samples, whole or not at all.
func appendRound(path string, round int, text []byte) error {
	old, err := os.ReadFile(path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return writeFile(path, fmt.Appendf(old, "round: %d\n%s\n", round, text))
}

// takeRounds takes the rounds that a file lacks. An error of take is the reason why there are no
// samples, and the next source gets its turn.
func takeRounds(ctx context.Context, path string, rounds int, take func(round int) ([]byte, error)) (*outcome, error) {
	_, last, err := readRounds(path)
	if err != nil {
		return nil, err
	}
	for round := last + 1; round <= rounds; round++ {
		text, err := take(round)
		if err != nil {
			return unmeasured(err), ctx.Err()
		}
		if err := appendRound(path, round, text); err != nil {
			return nil, err
		}
	}
	s, _, err := readRounds(path)
	return &outcome{samples: s, why: func(name string) string { return noSample(path, name) }}, err
}

// skipped finds the benchmarks that skipped themselves, with the reason in front.
var skipped = regexp.MustCompile(`(?m)^ +\S+\.go:\d+: (.*)\n--- SKIP: Benchmark(\S+)`)

// noSample says why a file has no samples of a name.
func noSample(path, name string) string {
	text, err := os.ReadFile(path)
	if err != nil {
		return err.Error()
	}
	for _, m := range skipped.FindAllSubmatch(text, -1) {
		if name == string(m[2]) || strings.HasPrefix(name, string(m[2])+"/") {
			return string(m[1])
		}
	}
	return filepath.Base(path) + " has no " + name
}

// maxReason is the longest end of an output in an error.
const maxReason = 200
