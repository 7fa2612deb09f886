package workload

import (
	"fmt"
	"strconv"
)

// A Folder is the database of the lookups: one table of unique paths, which follow from the seed or
// the number of the row, so that every answer is known without asking a database.
type Folder struct {
	Rows     int
	Seed     uint64
	Numbered bool // paths are made of the number of the row, see appendNumbered; else they are random
}

// FolderSchema is the one table.
const FolderSchema = "CREATE TABLE folder_paths (id INTEGER PRIMARY KEY, path TEXT UNIQUE NOT NULL)"

// Name tells it from other databases.
func (f *Folder) Name() string {
	if f.Numbered {
		return fmt.Sprintf("folder_paths-%d-numbered.db", f.Rows)
	}
	return fmt.Sprintf("folder_paths-%d-%d.db", f.Rows, f.Seed)
}

// Bytes estimates its size on disk: row, entry of the index, and free space in the pages.
func (f *Folder) Bytes() int64 { return int64(f.Rows) * 200 }

// Path returns the path of a row.
func (f *Folder) Path(id int64) string { return string(f.appendPath(nil, id)) }

func (f *Folder) appendPath(b []byte, id int64) []byte {
	if f.Numbered {
		return appendNumbered(b, id)
	}
	return AppendPath(b, f.Seed, id)
}

// appendNumbered appends a path such as /data/567/folder1234567. Paths that are next to each other
// in an index share all but their last bytes, but their rows are far from each other.
func appendNumbered(b []byte, id int64) []byte {
	b = strconv.AppendInt(append(b, "/data/"...), id%1000, 10)
	return strconv.AppendInt(append(b, "/folder"...), id, 10)
}

// A path has minPath to MaxPath bytes.
const (
	minPath = 45
	MaxPath = 60
)

const alphabet = "abcdefghijklmnopqrstuvwxyz012345"

// AppendPath appends the path of a row. It consists of /home and of directories with random names,
// and holds more than 150 random bits: no two rows share a path.
func AppendPath(b []byte, seed uint64, id int64) []byte {
	r := Rand(mix(seed) ^ mix(uint64(id)+0x9e3779b97f4a7c15))
	bits := r.Next()
	end := len(b) + minPath + int(bits%(MaxPath-minPath+1))
	b = append(b, "/home"...)
	for left := 0; len(b) < end; left-- {
		if left == 0 {
			left = 6 + int(r.Next()%8)
			b = append(b, '/')
			continue
		}
		bits = r.Next()
		b = append(b, alphabet[bits%uint64(len(alphabet))])
	}
	if b[end-1] == '/' {
		b[end-1] = 'x'
	}
	return b
}

// A pathList is rows with their paths, in the order of the reads and next to each other in memory.
// So a comparison costs next to nothing.
type pathList struct {
	ids  []int64
	text string
	ends []uint64
}

// randomPaths lists n rows, which are drawn at random.
func (f *Folder) randomPaths(n int, r Rand) *pathList {
	l := &pathList{ids: make([]int64, n), ends: make([]uint64, n+1)}
	b := make([]byte, 0, n*MaxPath)
	for i := range l.ids {
		l.ids[i] = 1 + int64(r.Next()%uint64(f.Rows))
		b = f.appendPath(b, l.ids[i])
		l.ends[i+1] = uint64(len(b))
	}
	l.text = string(b)
	return l
}

// at is item i of the list.
func (l *pathList) at(i int) (id int64, path string) { return l.ids[i], l.text[l.ends[i]:l.ends[i+1]] }
