// Contender folio drives the file system: a volume, which is one SQLite file, through Folio's own
// engine.
package main

import (
	"context"
	"io/fs"
	"path/filepath"

	"github.com/foliofs/folio"

	"github.com/foliofs/folio/lab/workload"
	"github.com/foliofs/folio/lab/workload/harness"
)

func main() {
	harness.Main(harness.Contender{
		Name: "folio", Module: "github.com/foliofs/folio",
		APIs: []workload.API{harness.FileTasks(workload.API{
			Name: "native", Title: "folio, a volume", Kind: "volume", Ours: true,
			Groups: []workload.Group{workload.Consistent, workload.Durable},
			Tree:   openTree,
		}, newVolume)},
	})
}

// A volume is a new one. Each call is a transaction; with durable, it is synced.
type volume struct {
	*folio.Volume
	durable bool
}

// newVolume makes an empty volume.
func newVolume(j *workload.Job) (harness.Files, error) {
	path := filepath.Join(j.Dir, "test.folio")
	if err := folio.Create(context.Background(), path, nil, func(*folio.Builder) error { return nil }); err != nil {
		return nil, err
	}
	v, err := folio.Open(path, nil)
	return &volume{v, j.Group == workload.Durable}, err
}

func (v *volume) Put(name string, data []byte) error {
	return v.settle(v.WriteFile(name, data, 0o666))
}

func (v *volume) Remove(name string) error { return v.settle(v.Volume.Remove(name)) }

// settle syncs the volume after a change, if the group promises it.
func (v *volume) settle(err error) error {
	if err == nil && v.durable {
		err = v.Sync(context.Background())
	}
	return err
}

func (v *volume) ReadDir() ([]fs.DirEntry, error) { return v.Volume.ReadDir(".") }

func (v *volume) Settings() (map[string]string, error) {
	if v.durable {
		return map[string]string{"sync": "commit"}, nil
	}
	return map[string]string{"sync": "log"}, nil
}
