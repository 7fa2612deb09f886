package main

import "strings"

// findWords are the flags of folio find that may be written with one dash, as find(1) has them, and
// whether a value follows.
var findWords = map[string]bool{
	"-name": true, "-iname": true, "-type": true, "-size": true, "-newer": true, "-older": true, "-maxdepth": true,
	"-delete": false, "-print": false, "-print0": false,
}

// findArgs gives flags in the spelling of find(1) a second dash. A word after a flag is its value.
func findArgs(args []string) []string {
	if len(args) == 0 || args[0] != "find" {
		return args
	}
	list := make([]string, 0, len(args))
	for i := 0; i < len(args); i++ {
		if args[i] == "--" {
			return append(list, args[i:]...)
		}
		value, known := findWords[args[i]]
		if !known {
			value = findWords[strings.TrimPrefix(args[i], "-")] // with two dashes already
			list = append(list, args[i])
		} else {
			list = append(list, "-"+args[i])
		}
		if value && i+1 < len(args) {
			i++
			list = append(list, args[i])
		}
	}
	return list
}
