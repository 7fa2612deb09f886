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
	Ops:         func(j *Job) int64 { return int64(j.Values.Int("reads")) },
	Warm:        func(j *Job) int64 { return int64(j.Values.Int("reads")) / 10 },
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

// A fileReader is one goroutine.
type fileReader struct {
	reading
	job     *Job
	tree    fs.FS
	large   io.ReaderAt // nil where whole files are read
	names   []string
	buf     []byte
	targets []int
}

func startRead(j *Job, a *API) (*Work, error) {
	t, err := a.Tree(j)
	if err != nil {
		return nil, err
	}
	if err := t.Import(readTree(j)); err != nil {
		return nil, errors.Join(err, t.Close())
	}
	return readings(j, t, func() (*fileReader, error) { return newFileReader(j, t) })
}

// treeConnection is a tree as one goroutine has it.
type treeConnection struct{ Tree }

func (treeConnection) Prepares() int64 { return 0 }

func (treeConnection) Close() error { return nil }

func newFileReader(j *Job, t Tree) (*fileReader, error) {
	tree, err := t.FS()
	if err != nil {
		return nil, err
	}
	r := &fileReader{reading: reading{connection: treeConnection{t}}, job: j, tree: tree}
	if j.Values["shape"] == "whole" {
		for i := range j.Values.Int("files") {
			r.names = append(r.names, generatedName(i))
		}
		return r, nil
	}
	f, err := tree.Open(largeName)
	if err != nil {
		return nil, err
	}
	at, ok := f.(io.ReaderAt)
	if !ok {
		return nil, fmt.Errorf("ranges: %w: its files have no ReadAt", errors.ErrUnsupported)
	}
	r.large, r.buf = at, make([]byte, j.Values.Int("range"))
	return r, nil
}

func (f *fileReader) draw(phase, i, n int) { f.targets, f.found = f.job.targets(phase, i, n), Answer{} }

// read reads all targets. The digest of a content is a small part of the time, the same for all.
func (f *fileReader) read(r *Recorder) error {
	for _, t := range f.targets {
		start := r.Start()
		data, err := f.one(t)
		if err != nil {
			return err
		}
		r.Stop(start)
		f.found.AddBytes(int64(t), data)
	}
	return nil
}

func (f *fileReader) one(target int) ([]byte, error) {
	if f.large == nil {
		return fs.ReadFile(f.tree, f.names[target])
	}
	n, err := f.large.ReadAt(f.buf, int64(target))
	if err == io.EOF && n == len(f.buf) {
		err = nil
	}
	return f.buf[:n], err
}
