package result

import "strings"

// ShellCommand returns the shell command that calls the laboratory with these words from the
// project's directory.
func ShellCommand(words []string) string {
	line := []string{"go", "-C", "lab", "run", "."}
	for _, w := range words {
		if w == "" || strings.ContainsAny(w, " \t\n'\"$`\\*?&|;<>(){}[]~#!") {
			w = "'" + strings.ReplaceAll(w, "'", `'\''`) + "'"
		}
		line = append(line, w)
	}
	return strings.Join(line, " ")
}
