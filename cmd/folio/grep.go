package main

import (
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/foliofs/folio/cmd/folio/internal/grep"
	"github.com/foliofs/folio/internal/match"
)

const grepLong = `Write the lines of files that match PATTERN, a regular expression of Go and RE2. Directories are searched
with all files in them. Symbolic links are followed only if the command line names them. Files come
sorted by name at each level.

A line comes with the name of its file, unless the command line names one file only. A file with a NUL
byte in its first 32 KiB is not text. The output only says that it matches. A line ends with a newline,
or after 16 MiB.

With --only-matching, each match comes on a line of its own. Of several that begin at one place it is
the longest. An empty match does not count. With -A, -B or -C, lines around those that match have - in
place of : after the name and the number. A line of -- separates groups of lines that do not follow each
other.

The exit code is 1 if nothing matches.`

func (c *command) grepCommand() *cobra.Command {
	g := &grep.Query{Streams: &c.Streams}
	cmd := newCommand("grep PATTERN VOLUME[:PATH]...", "Find lines in files",
		grepLong,
		`  folio grep -n 'func (Read|Write)At' goroot.folio:src
  folio grep -il --include '*.md' license goroot.folio
  folio grep -oh 'https?://[a-z.]+' goroot.folio
  folio grep -C 2 'panic[(]' goroot.folio:src/sort
  folio grep -F 'a[i]' goroot.folio:src/sort/sort.go`,
		func(cmd *cobra.Command, args []string) error { return checkGrep(g, cmd, args) })
	cmd.ValidArgsFunction = completeLater(cobra.ShellCompDirectiveNoFileComp)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if !cmd.Flags().Changed("regexp") {
			args = args[1:] // PATTERN
		}
		found, err := g.Run(cmd.Context(), args)
		if err == nil && !found {
			err = errSilent
		}
		return err
	}
	flags := cmd.Flags()
	flags.BoolVarP(&g.Options.IgnoreCase, "ignore-case", "i", false, "upper and lower case are the same")
	flags.BoolVarP(&g.Options.Fixed, "fixed-strings", "F", false, "PATTERN is a string, not a regular expression")
	flags.BoolVarP(&g.List, "files-with-matches", "l", false, "only the names of files with a line that matches")
	flags.BoolVarP(&g.Count, "count", "c", false, "only how many lines of each file match")
	flags.BoolVarP(&g.Numbers, "line-number", "n", false, "lines with their number")
	flags.BoolVarP(&g.Quiet, "quiet", "q", false, "no output; the exit code says whether a line matches")
	flags.BoolVarP(&g.Options.Invert, "invert-match", "v", false, "lines that do not match")
	flags.BoolVarP(&g.Options.Word, "word-regexp", "w", false, "matches are whole words")
	flags.StringArrayVarP(&g.Patterns, "regexp", "e", nil, "a `pattern` in place of PATTERN; several may be given")
	flags.BoolFuncP("with-filename", "H", "lines always come with the name of their file", func(string) error { g.Naming = grep.Named; return nil })
	flags.BoolFuncP("no-filename", "h", "lines come without it", func(string) error { g.Naming = grep.Unnamed; return nil })
	flags.BoolP("recursive", "r", false, "search directories: that is always so")
	flags.BoolP("extended-regexp", "E", false, "PATTERN is an extended regular expression: that of Go always is")
	flags.BoolVarP(&g.Only, "only-matching", "o", false, "only the parts of lines that match, each on a line")
	flags.FuncP("after-context", "A", "show `n` lines after each line that matches", g.After.Set)
	flags.FuncP("before-context", "B", "show `n` lines before each line that matches", g.Before.Set)
	flags.FuncP("context", "C", "show `n` lines before and after each line that matches", g.Around.Set)
	plainHelp(cmd)
	flags.Func("include", "search only files whose names match this `glob`; several may be given", g.Include.Set)
	return cmd
}

var errTwoOutputs = errors.New("--files-with-matches and --count are two forms of the output; choose one")

// checkGrep also compiles the pattern, because an error in it is misuse.
func checkGrep(g *grep.Query, cmd *cobra.Command, args []string) (err error) {
	if len(g.Patterns) > 0 {
		args = append([]string{""}, args...)
	} else if len(args) > 0 {
		g.Patterns = args[:1]
	}
	if err := between(2, -1, "PATTERN and VOLUME[:PATH]")(cmd, args); err != nil {
		return err
	}
	if g.List && g.Count {
		return usageError(cmd, errTwoOutputs)
	}
	if g.Pattern, err = match.Compile(g.Patterns, g.Options); err != nil {
		return usageError(cmd, fmt.Errorf("%w; --fixed-strings takes it as a string", err))
	}
	if g.Only && !g.NamesOnly() {
		g.Spans, err = match.NewSpans(g.Patterns, g.Options)
	}
	return err
}
