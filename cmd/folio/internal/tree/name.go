package tree

import (
	"strings"
)

// MaxPath is the longest name that an archive may give an entry, in bytes: zip cannot say more, and
// no system's PATH_MAX comes near. It bounds how many directories one entry can make.
const MaxPath = 1<<16 - 1

// CleanName returns the name of an archive's entry as a volume has it: elements separated by single
// slashes, or "." for the root. A slash in front means the root of the volume, as programs that
// unpack archives leave it out. Anything that leads elsewhere than down is ErrName.
func CleanName(name string) (string, error) {
	if name != "" && len(name) <= MaxPath {
		if name = strings.TrimLeft(name, "/"); name == "" {
			return ".", nil
		}
	}
	if name == "" || len(name) > MaxPath || strings.IndexByte(name, 0) >= 0 {
		return "", ErrName
	}
	if isClean(name) {
		return name, nil
	}
	var elems []string
	for elem := range strings.SplitSeq(name, "/") {
		switch elem {
		case "", ".":
		case "..":
			return "", ErrName
		default:
			elems = append(elems, elem)
		}
	}
	if len(elems) == 0 {
		return ".", nil
	}
	return strings.Join(elems, "/"), nil
}

// isClean spares the usual names the rest of CleanName.
func isClean(name string) bool {
	return name[0] != '.' && name[len(name)-1] != '/' && !strings.Contains(name, "//") && !strings.Contains(name, "/.")
}

// Join returns the path of a file in a directory. Unlike path.Join it does not clean the name.
func Join(dir, name string) string {
	if dir == "." {
		return name
	}
	return dir + "/" + name
}

// CompareNames orders names as a walk meets them: a directory before the files in it, and by name
// within a directory.
func CompareNames(a, b string) int {
	if a == "." || b == "." {
		return b2i(a != ".") - b2i(b != ".")
	}
	n := min(len(a), len(b))
	for i := range n {
		if x, y := rank(a[i]), rank(b[i]); x != y {
			return x - y
		}
	}
	return len(a) - len(b)
}

// rank puts the slash before all other bytes.
func rank(c byte) int {
	if c == '/' {
		return -1
	}
	return int(c)
}

func b2i(b bool) int {
	if b {
		return 1
	}
	return 0
}

// Names are the names in a directory, sorted by their bytes.
type Names struct {
	Len int
	At  func(i int) string
}

// Pairs calls visit for each name in two directories, in order, with its place in both. A place is
// -1 if the directory lacks the name.
func Pairs(a, b Names, visit func(i, j int) error) error {
	for i, j := 0, 0; i < a.Len || j < b.Len; {
		order := 0
		switch {
		case i == a.Len:
			order = 1
		case j == b.Len:
			order = -1
		default:
			order = strings.Compare(a.At(i), b.At(j))
		}
		x, y := -1, -1
		if order <= 0 {
			x, i = i, i+1
		}
		if order >= 0 {
			y, j = j, j+1
		}
		if err := visit(x, y); err != nil {
			return err
		}
	}
	return nil
}
