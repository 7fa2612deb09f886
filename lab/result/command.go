package result

import "strings"

// ShellCommand is what is typed in the project's directory to call the laboratory with these words.
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
