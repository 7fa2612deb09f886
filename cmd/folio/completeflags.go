package main

import (
	"maps"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// archiveWords are the formats of archives.
var archiveWords = []string{"tar", "tar.gz", "tar.zst", "zip", "sqlar"}

// flagValues complete the values of flags, by the name of the flag, or by those of a command and
// its flag. Of any other flag nothing can be offered: the value is a number, a time, a pattern or a
// name that is new.
var flagValues = map[string]cobra.CompletionFunc{
	"export format":   oneOf(append([]string{"dir"}, archiveWords...)...),
	"convert format":  oneOf(append([]string{"volume"}, archiveWords...)...),
	"diff attributes": listOf("mode", "owner", "times", "xattrs", "all", "none"),
	"find type":       listOf("f\tfiles", "d\tdirectories", "l\tsymbolic links", "p\tfifos", "s\tsockets", "b\tblock devices", "c\tcharacter devices"),
	"cp reflink":      oneOf("always", "auto", "never"),
	"mount options":   listOf(mountOptionWords()...),
	"keep-last":       oneOf("unlimited"),
	"keep-hourly":     oneOf("unlimited"),
	"keep-daily":      oneOf("unlimited"),
	"keep-weekly":     oneOf("unlimited"),
	"keep-monthly":    oneOf("unlimited"),
	"keep-yearly":     oneOf("unlimited"),
	"base":            completeLocation,
	"serve base":      cobra.NoFileCompletions, // a path of a URL
	"tls-cert":        completeFile,
	"tls-key":         completeFile,
	"users":           completeFile,
	"rights":          completeFile,
}

// completeFlags lets the shell complete the values of all flags of a command, and of those below
// it.
func completeFlags(cmd *cobra.Command) {
	cmd.Flags().VisitAll(func(f *pflag.Flag) {
		if !takesValue(f) {
			return
		}
		complete := flagValues[cmd.Name()+" "+f.Name]
		if complete == nil {
			complete = flagValues[f.Name]
		}
		if complete == nil {
			complete = cobra.NoFileCompletions
		}
		_ = cmd.RegisterFlagCompletionFunc(f.Name, complete) // it fails for a flag that there is not
	})
	for _, sub := range cmd.Commands() {
		completeFlags(sub)
	}
}

// takesValue reports whether a flag is more than a switch.
func takesValue(f *pflag.Flag) bool { return !strings.HasPrefix(f.Value.Type(), "bool") }

func completeFile(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
	return nil, cobra.ShellCompDirectiveDefault
}

// oneOf completes one of some words. A tab divides a word from what it means.
func oneOf(words ...string) cobra.CompletionFunc {
	return func(_ *cobra.Command, _ []string, begun string) ([]string, cobra.ShellCompDirective) {
		return wordsWith(words, "", begun), cobra.ShellCompDirectiveNoFileComp
	}
}

// listOf completes words with commas between.
func listOf(words ...string) cobra.CompletionFunc {
	return func(_ *cobra.Command, _ []string, begun string) ([]string, cobra.ShellCompDirective) {
		last := strings.LastIndexByte(begun, ',') + 1
		return wordsWith(words, begun[:last], begun[last:]), here
	}
}

// wordsWith returns the words that begin with a prefix, each behind the ones that are there. Those
// are not offered again.
func wordsWith(words []string, there, prefix string) (list []string) {
	for _, w := range words {
		word, _, _ := strings.Cut(w, "\t")
		if strings.HasPrefix(word, prefix) && !strings.Contains(","+there, ","+word+",") {
			list = append(list, there+w)
		}
	}
	return list
}

// mountOptionWords are the options of mount that mean something for a volume.
func mountOptionWords() []string {
	words := slices.Concat(slices.Collect(maps.Keys(mountWords)), strings.Fields(kernelWords),
		[]string{"snapdir=hidden", "snapdir=visible", "snapdir=none"})
	words = slices.DeleteFunc(words, func(w string) bool { return w == "snapdir=" })
	slices.Sort(words)
	return words
}
