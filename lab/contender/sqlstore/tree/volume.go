package tree

import (
	"context"
	"io/fs"
	"path/filepath"

	"github.com/foliofs/folio"
	"github.com/foliofs/folio/sqlstore"

	"github.com/foliofs/folio/lab/workload"
	"github.com/foliofs/folio/lab/workload/harness"
)

// A volume is one through SQL.
type volume struct {
	vol     *folio.Volume
	durable bool
}

func (d driver) volume(j *workload.Job) (workload.Tree, error) {
	v, err := sqlstore.Open(string(d), harness.URI(filepath.Join(j.Dir, "test.folio")), &sqlstore.Options{Create: true})
	return &volume{v, j.Group == workload.Durable}, err
}

func (v *volume) Import(src fs.FS) error {
	err := v.vol.Merge(context.Background(), src, ".", nil)
	if err == nil && v.durable {
		err = v.vol.Sync(context.Background())
	}
	return err
}

func (v *volume) FS() (fs.FS, error) { return v.vol.FS(), nil }

func (v *volume) Settings() (map[string]string, error) {
	if v.durable {
		return map[string]string{"sync": "commit"}, nil
	}
	return map[string]string{"sync": "log"}, nil
}

func (v *volume) Close() error { return v.vol.Close() }
