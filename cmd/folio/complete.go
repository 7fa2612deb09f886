package main

import (
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/foliofs/folio/cmd/folio/internal/location"
	"github.com/foliofs/folio/cmd/folio/internal/quote"
	"github.com/foliofs/folio/cmd/folio/internal/sqlshell"
)

// here says that the words are all that there is, and may be continued.
const here = cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveNoSpace

// completeLocation completes VOLUME[@SNAPSHOT][:PATH]: at first a file on disk, after an @ a
// snapshot, and after a colon a path.
func completeLocation(_ *cobra.Command, _ []string, word string) ([]string, cobra.ShellCompDirective) {
	i := strings.LastIndexByte(word, ':')
	if i >= 0 && location.IsTree(word[:i]) {
		return completePath(word, i)
	}
	if at := strings.LastIndexByte(word, '@'); at > i && location.IsVolume(word[:at]) {
		return completeSnapshot(word[:at], word[:at+1], word[at+1:])
	}
	return nil, cobra.ShellCompDirectiveDefault
}

// completeSnapshot completes the name of a snapshot. before is the beginning of the word.
func completeSnapshot(volume, before, prefix string) ([]string, cobra.ShellCompDirective) {
	list, err := location.Root(volume).Snapshots()
	var words []string
	for _, s := range list {
		if strings.HasPrefix(s.Name, prefix) && quote.Printable(s.Name) {
			words = append(words, before+s.Name)
		}
	}
	if err != nil || len(words) == 0 {
		return nil, cobra.ShellCompDirectiveDefault // a file with an @ in its name
	}
	return words, here
}

// completePath completes a path behind the colon at a place of the word.
func completePath(word string, i int) ([]string, cobra.ShellCompDirective) {
	v, err := location.Parse(word[:i]).Open()
	if err != nil {
		return nil, here
	}
	defer v.Close()
	dir, prefix := path.Split(word[i+1:])
	list, err := v.ReadDir(location.Clean(dir))
	if err != nil {
		return nil, here
	}
	var words []string
	for _, d := range list {
		if !strings.HasPrefix(d.Name(), prefix) || !quote.Printable(d.Name()) {
			continue
		}
		name := word[:i+1] + dir + d.Name()
		if d.IsDir() {
			name += "/"
		}
		words = append(words, name)
	}
	return words, here
}

// completeFirst completes a location as the first argument. The other arguments are files on disk.
func completeFirst(cmd *cobra.Command, args []string, word string) ([]string, cobra.ShellCompDirective) {
	if len(args) > 0 {
		return nil, cobra.ShellCompDirectiveDefault
	}
	return completeLocation(cmd, args, word)
}

// completeLater completes locations after the first argument. first is for the first one.
func completeLater(first cobra.ShellCompDirective) cobra.CompletionFunc {
	return func(cmd *cobra.Command, args []string, word string) ([]string, cobra.ShellCompDirective) {
		if len(args) == 0 {
			return nil, first
		}
		return completeLocation(cmd, args, word)
	}
}

// archiveWords are the formats of archives.
var archiveWords = []string{"tar", "tar.gz", "tar.zst", "zip", "sqlar"}

// flagValues complete the values of flags, by the name of the flag, or by the names of a command
// and its flag. Of any other flag nothing can be offered: the value is a number, a time, a pattern
// or a name that is new.
var flagValues = map[string]cobra.CompletionFunc{
	"export format":   oneOf(append([]string{"dir"}, archiveWords...)...),
	"convert format":  oneOf(append([]string{"volume"}, archiveWords...)...),
	"diff attributes": listOf("mode", "owner", "times", "xattrs", "all", "none"),
	"find type":       listOf("f\tfiles", "d\tdirectories", "l\tsymbolic links", "p\tfifos", "s\tsockets", "b\tblock devices", "c\tcharacter devices"),
	"sql output":      oneOf(sqlshell.Formats...),
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

// oneOf completes one of some words. A tab divides a word from its meaning.
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
