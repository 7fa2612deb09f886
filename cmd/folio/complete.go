package main

import (
	"path"
	"strings"

	"github.com/spf13/cobra"

	"github.com/foliofs/folio/cmd/folio/internal/location"
	"github.com/foliofs/folio/cmd/folio/internal/quote"
)

// completeLocation completes VOLUME[:PATH]: before a colon a file on disk, after it a path in the
// volume.
func completeLocation(_ *cobra.Command, _ []string, word string) ([]string, cobra.ShellCompDirective) {
	i := strings.LastIndexByte(word, ':')
	if i < 0 || !location.Exists(word[:i]) {
		return nil, cobra.ShellCompDirectiveDefault
	}
	const here = cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveNoSpace
	loc := location.Location{Volume: word[:i]}
	v, err := loc.Open()
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
