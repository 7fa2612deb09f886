package workload

import (
	"errors"
	"fmt"
	"io/fs"
	"time"
)

// walk walks a tree with a function that does nothing: the experiment of a file system inside
// SQLite.
var walk = &Workload{
	Name:  "walk",
	Short: "fs.WalkDir over a tree, with a function that does nothing",
	Flags: []Flag{
		{"tree", "three,generated", "", "three files, a generated tree, goroot, goroot/src, or the absolute path of a directory", anything},
		{"entries", "10000", "500", "files in a generated tree", number},
		{"size", "1000", "", "bytes of a generated file on average", number},
		{"visits", "200000", "5000", "entries to visit in a sample; a small tree is walked many times", number},
	},
	Varied:      []string{"tree"},
	Unit:        "entry",
	Question:    "How fast is a tree walked?",
	Description: "fs.WalkDir over the stored tree, again and again; each entry is an operation, each latency is that of a walk.",
	Repeats:     "walking a tree: a file system inside SQLite against the OS (2022)",
	Check:       checkTrees,
	Supports:    func(a *API) bool { return a.Tree != nil },
	Needs:       "tree of files",
	Start:       startWalk,
	Want:        func(j *Job) (Answer, error) { return wantTree(j, false) },
	Warm:        func(*Job) int64 { return 1 },
}

// checkTrees refuses names of trees that there are not.
func checkTrees(v Values) error {
	if len(v.List("tree")) == 0 {
		return errors.New("tree is empty; it takes three, generated, goroot or a directory")
	}
	for _, name := range v.List("tree") {
		if _, err := source(name, 1, 1); err != nil {
			return err
		}
	}
	return nil
}

// jobTree is the tree of a job.
func (j *Job) jobTree() (fs.FS, error) {
	return source(j.Values["tree"], j.Values.Int("entries"), j.Values.Int("size"))
}

func wantTree(j *Job, contents bool) (Answer, error) {
	src, err := j.jobTree()
	if err != nil {
		return Answer{}, err
	}
	return visit(src, contents)
}

// fill makes a store and imports the tree of the job.
func fill(j *Job, a *API) (Tree, fs.FS, error) {
	src, err := j.jobTree()
	if err != nil {
		return nil, nil, err
	}
	t, err := a.Tree(j)
	if err != nil {
		return nil, nil, err
	}
	if err := t.Import(src); err != nil {
		return nil, nil, errors.Join(err, t.Close())
	}
	tree, err := t.FS()
	return t, tree, err
}

func startWalk(j *Job, a *API) (*Work, error) {
	t, tree, err := fill(j, a)
	if err != nil {
		return nil, err
	}
	settings, err := t.Settings()
	if err != nil {
		return nil, err
	}
	entries := 0
	return &Work{
		Settings: []map[string]string{settings},
		WarmUp: func() (ops int64, err error) {
			entries, err = count(tree)
			return int64(entries), err
		},
		Workers: []Worker{func(r *Recorder) error {
			for range max(1, j.Values.Int("visits")/max(1, entries)) {
				begin := time.Now()
				n, err := count(tree)
				r.Many(int64(n), time.Since(begin))
				if err == nil && n != entries {
					err = wrong("a walk found %d entries, the one before %d", n, entries)
				}
				if err != nil {
					return err
				}
			}
			return nil
		}},
		Answer: func() (Answer, error) { return visit(tree, false) },
		Close:  t.Close,
	}, nil
}

// count walks a tree and counts its entries, which is as good as nothing.
func count(tree fs.FS) (n int, err error) {
	err = fs.WalkDir(tree, ".", func(name string, _ fs.DirEntry, err error) error {
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		n++
		return nil
	})
	return n, err
}

// visit walks a tree and sums it up: names only, or contents too. Other than directories and
// regular files are left out.
func visit(tree fs.FS, contents bool) (a Answer, err error) {
	err = fs.WalkDir(tree, ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || name == "." || !stored(d) {
			return err
		}
		if d.IsDir() || !contents {
			a.Add(0, name)
			return nil
		}
		data, err := fs.ReadFile(tree, name)
		if err != nil {
			return err
		}
		a.Add(int64(len(data)), name)
		a.Digest += fold(0, data)
		return nil
	})
	return a, err
}
