package workload

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"testing/fstest"
)

// read reads files: small ones whole, and ranges of a large one.
var read = &Workload{
	Name:  "read",
	Short: "whole small files, and ranges of a large one",
	Flags: []Flag{
		{"shape", "whole,ranges", "", "whole: small files, at random; ranges: parts of a large one, at random", "whole,ranges"},
		{"files", "10000", "500", "small files", number},
		{"size", "11000", "", "bytes of a small file on average", number},
		{"large", "67108864", "1048576", "bytes of the large file", number},
		{"range", "4096", "", "bytes of a range", number},
		{"reads", "50000", "1000", "reads in a sample", number},
		{"goroutines", "1", "", "goroutines, each with a connection of its own", number},
	},
	Varied:      []string{"shape", "goroutines"},
	Unit:        "read",
	Questions:   map[string]string{"whole": "How fast is a small file read?", "ranges": "How fast is a part of a large file read?"},
	Description: "Files are read at random through io/fs, ranges by ReadAt of a file that stays open; each content is compared by its digest.",
	Check:       checkRange,
	Supports:    func(a *API) bool { return a.Tree != nil },
	Needs:       "files",
	Start:       startRead,
	Want:        wantRead,
	Ops:         countReads,
	Warm:        warmReads,
}

// checkRange refuses ranges that are larger than the file.
func checkRange(v Values) error {
	if v.Int("range") > v.Int("large") {
		return fmt.Errorf("range %s is more than large %s", v["range"], v["large"])
	}
	return nil
}

const largeName = "large/file.bin"

// readTree returns the tree that a job reads.
func readTree(j *Job) fs.FS {
	if j.Values["shape"] == "whole" {
		return generated(j.Values.Int("files"), j.Values.Int("size"))
	}
	return fstest.MapFS{largeName: {Data: largeContent(j.Values.Int("large")), ModTime: treeTime, Mode: 0o644}}
}

// largeContent holds a number in each word, which tells where it was read.
func largeContent(n int) []byte {
	b := make([]byte, n)
	for i := range b {
		b[i] = byte(mix(uint64(i/8)) >> (8 * (i % 8)))
	}
	return b
}

// targets returns the reads of worker i: numbers of files, or offsets.
func (j *Job) targets(phase, i, n int) []int {
	limit := j.Values.Int("files")
	if j.Values["shape"] == "ranges" {
		limit = j.Values.Int("large") - j.Values.Int("range") + 1
	}
	return j.draw(phase, i, n, j.Values.Int("goroutines"), limit)
}

func wantRead(j *Job) (a Answer, err error) {
	whole := j.Values["shape"] == "whole"
	var large []byte
	if !whole {
		large = largeContent(j.Values.Int("large"))
	}
	known := make(map[int]uint64)
	for i := range j.Values.Int("goroutines") {
		for _, t := range j.targets(measured, i, j.Values.Int("reads")) {
			if whole && known[t] == 0 {
				known[t] = fold(int64(t), content(t, j.Values.Int("size")))
			}
			a.Count++
			if whole {
				a.Digest += known[t]
			} else {
				a.Digest += fold(int64(t), large[t:t+j.Values.Int("range")])
			}
		}
	}
	return a, nil
}

func startRead(j *Job, a *API) (*Work, error) {
	t, err := a.Tree(j)
	if err != nil {
		return nil, err
	}
	if err := t.Import(readTree(j)); err != nil {
		return nil, errors.Join(err, t.Close())
	}
	return readings(j, t, func(worker int) (*reading, error) { return newFileReader(j, t, worker) })
}

// treeConnection is a tree as one goroutine has it.
type treeConnection struct{ Tree }

func (treeConnection) Prepares() int64 { return 0 }

func (treeConnection) Close() error { return nil }

// newFileReader makes a goroutine that reads files. The digest of a content is a small part of the
// time, the same for all.
func newFileReader(j *Job, t Tree, worker int) (*reading, error) {
	tree, err := t.FS()
	if err != nil {
		return nil, err
	}
	var names []string // made before the clock starts
	for i := range j.Values.Int("files") {
		names = append(names, generatedName(i))
	}
	one := func(i int) ([]byte, error) { return fs.ReadFile(tree, names[i]) }
	if j.Values["shape"] == "ranges" {
		if one, err = rangeReader(tree, j.Values.Int("range")); err != nil {
			return nil, err
		}
	}
	var targets []int
	r := &reading{connection: treeConnection{t}}
	r.draw = func(phase, n int) int {
		targets = j.targets(phase, worker, n)
		return len(targets)
	}
	r.one = func(i int) error {
		data, err := one(targets[i])
		if err == nil {
			r.found.AddBytes(int64(targets[i]), data)
		}
		return err
	}
	return r, nil
}

// rangeReader opens the large file. It returns a function that reads a range of n bytes at an
// offset.
func rangeReader(tree fs.FS, n int) (func(offset int) ([]byte, error), error) {
	f, err := tree.Open(largeName)
	if err != nil {
		return nil, err
	}
	at, ok := f.(io.ReaderAt)
	if !ok {
		return nil, fmt.Errorf("ranges: %w: its files have no ReadAt", errors.ErrUnsupported)
	}
	buf := make([]byte, n)
	return func(offset int) ([]byte, error) {
		n, err := at.ReadAt(buf, int64(offset))
		if err == io.EOF && n == len(buf) {
			err = nil
		}
		return buf[:n], err
	}, nil
}
