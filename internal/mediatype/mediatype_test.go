package mediatype

import (
	"mime"
	"strings"
	"testing"
)

func TestOf(t *testing.T) {
	for name, want := range map[string]string{
		"a.html": "text/html; charset=utf-8", "A.JPEG": "image/jpeg", "a.tar.gz": "application/gzip", "a": "", "a.": "", ".gitignore": "text/plain; charset=utf-8",
		"a.docx": "application/vnd.openxmlformats-officedocument.wordprocessingml.document", "a.nonesuch": "", "dir.d/a": "", "a.ts": "text/plain; charset=utf-8",
	} {
		if got := Of(name); got != want {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
	}
}

// TestTable looks for lines that are no media types, and for extensions that two lines have.
func TestTable(t *testing.T) {
	seen := make(map[string]string)
	for line := range strings.Lines(table) {
		fields := strings.Fields(line)
		if len(fields) == 0 {
			continue
		}
		if got, _, err := mime.ParseMediaType(fields[0]); err != nil || got != fields[0] || len(fields) == 1 {
			t.Errorf("%q is no type with extensions: %v", line, err)
		}
		for _, extension := range fields[1:] {
			if seen[extension] != "" {
				t.Errorf("%s is %s and %s", extension, seen[extension], fields[0])
			}
			seen[extension] = fields[0]
		}
	}
}
