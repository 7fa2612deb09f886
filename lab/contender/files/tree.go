package main

import (
	"errors"
	"io/fs"

	"github.com/foliofs/folio/lab/workload"
)

// files is a directory into which a tree is copied.
type files struct{ *store }

func tree(open func(dir string) (system, error)) func(j *workload.Job) (workload.Tree, error) {
	return func(j *workload.Job) (workload.Tree, error) {
		s, err := newStore(j, open, ways)
		return files{s}, err
	}
}

// Import copies a tree. Files are new, so there is nothing to replace: durable syncs each of them,
// and each directory once all that is in it is there.
func (f files) Import(src fs.FS) error {
	var dirs []string
	err := workload.Each(src, func(name string, info fs.FileInfo, data []byte) error {
		if info.IsDir() {
			dirs = append(dirs, name)
			return f.Mkdir(name, 0o777)
		}
		if !f.synced {
			return f.WriteFile(name, data, 0o666)
		}
		return plainSynced(f.store, name, data)
	})
	if err != nil || !f.synced {
		return err
	}
	for _, dir := range append(dirs, ".") {
		if err := f.syncDir(dir); err != nil {
			return err
		}
	}
	return nil
}

func (f files) syncDir(name string) error {
	d, err := f.Open(name)
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}

func (f files) FS() (fs.FS, error) { return f.system.FS(), nil }
