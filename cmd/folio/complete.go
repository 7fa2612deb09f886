package main

import (
	"path"
	"strings"

	"github.com/spf13/cobra"

	"github.com/foliofs/folio/cmd/folio/internal/location"
	"github.com/foliofs/folio/cmd/folio/internal/quote"
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

// completeSnapshot completes the name of a snapshot. before is what the word begins with.
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
