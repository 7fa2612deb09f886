package report

import (
	"strconv"
	"strings"

	"github.com/foliofs/folio/lab/result"
)

// Command returns the command that makes the figures of one case again, and no others, from the
// project's directory.
func Command(s *result.Set, c *result.Case) string {
	if c.Workload == "query" {
		return s.Run.Command
	}
	words := []string{"run", c.Workload}
	for _, p := range c.All() {
		if p.Name != "dir" {
			words = append(words, "--"+c.Workload+"."+p.Name, p.Value)
		}
	}
	var who []string
	server := false
	for _, contender := range s.In(c.ID) {
		who = append(who, contender.ID)
		server = server || contender.Kind == result.KindServer
	}
	if len(who) > 0 {
		words = append(words, "--contenders", strings.Join(who, ","))
	}
	if server {
		words = append(words, "--postgres", "ADDRESS")
	}
	words = append(words, "--dirs", c.Dir, "--samples", strconv.Itoa(s.Run.Rounds), "--seed", strconv.FormatUint(s.Run.Seed, 10))
	return result.ShellCommand(words)
}
