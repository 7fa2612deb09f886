package archive

import (
	"path"
	"strings"
	"unicode/utf8"

	"github.com/foliofs/folio/cmd/folio/internal/source"
)

// A dirStack knows the directories that a walk is in, by numbers that their writer gives them.
type dirStack struct {
	dirs []numberedDir // from the root to the one that got the last entry
	out  string        // a directory that is left out, with a slash behind
}

type numberedDir struct {
	path   string
	number int64
}

// enter adds a directory, whose parent was the last to get an entry.
func (s *dirStack) enter(dir string, number int64) {
	s.dirs = append(s.dirs, numberedDir{dir, number})
}

// parent returns the number of the directory that the next entry lies in.
func (s *dirStack) parent(file string) int64 {
	for dir := path.Dir(file); s.dirs[len(s.dirs)-1].path != dir; {
		s.dirs = s.dirs[:len(s.dirs)-1]
	}
	return s.dirs[len(s.dirs)-1].number
}

// leavesOut reports whether an entry is left out because its name, its target or the name of a
// directory above it is not UTF-8. It warns of the topmost one.
func (s *dirStack) leavesOut(e *source.Entry, o *Options) bool {
	if s.out != "" && strings.HasPrefix(e.Name, s.out) {
		return true
	}
	if utf8.ValidString(e.Name) && utf8.ValidString(e.Linkname) {
		return false
	}
	o.warn(e.Name, "a name or a target that is not UTF-8")
	if e.Mode.IsDir() && e.Link == "" {
		s.out = e.Name + "/"
	}
	return true
}
