package main

import (
	"context"
	"errors"
	"io/fs"
	"path/filepath"

	"github.com/foliofs/folio"

	"github.com/foliofs/folio/lab/workload"
)

// tree is a volume that is made of a tree, by the bulk loader, which always syncs it.
type tree struct {
	path string
	vol  *folio.Volume // nil until it is made
}

func openTree(j *workload.Job) (workload.Tree, error) {
	return &tree{path: filepath.Join(j.Dir, "test.folio")}, nil
}

func (t *tree) Import(src fs.FS) error {
	if err := folio.ImportFS(context.Background(), t.path, src, nil); err != nil {
		return err
	}
	var err error
	t.vol, err = folio.Open(t.path, nil)
	return err
}

func (t *tree) FS() (fs.FS, error) {
	if t.vol == nil {
		return nil, errors.New("nothing was imported")
	}
	return t.vol.FS(), nil
}

func (t *tree) Settings() (map[string]string, error) {
	return map[string]string{"sync": "commit"}, nil
}

func (t *tree) Close() error {
	if t.vol == nil {
		return nil
	}
	return t.vol.Close()
}
