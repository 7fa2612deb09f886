// Contender files keeps each task in a file of its own: a line of JSON, written whole whenever it changes. How it is written
// follows from -durability: off is os.WriteFile, normal a temporary file and a rename, full syncs the file before it is closed.
package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"sync/atomic"

	"github.com/foliofs/folio/internal/oracle/write/bench"
)

func main() {
	bench.Main(bench.Contender{Name: "files", Open: open})
}

type store struct {
	dir   string
	write func(name string, data []byte) error
	how   string
	ids   atomic.Int64
}

func open(o bench.Options) (bench.Store, error) {
	s := &store{dir: filepath.Join(o.Dir, "tasks")}
	switch o.Durability {
	case "off":
		s.write, s.how = plain, "os.WriteFile"
	case "normal":
		s.write, s.how = rename, "temporary file and rename"
	case "full":
		s.write, s.how = synced, "create, write, fsync"
	default:
		return nil, fmt.Errorf("-durability %s: want off, normal or full", o.Durability)
	}
	return s, os.Mkdir(s.dir, 0o777)
}

func plain(name string, data []byte) error { return os.WriteFile(name, data, 0o666) }

func rename(name string, data []byte) error {
	if err := os.WriteFile(name+".tmp", data, 0o666); err != nil {
		return err
	}
	return os.Rename(name+".tmp", name)
}

func synced(name string, data []byte) error {
	f, err := os.Create(name)
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	return errors.Join(err, f.Sync(), f.Close())
}

func (s *store) Session() (bench.Session, error) { return &session{s}, nil }

func (s *store) Settings() (map[string]string, error) { return map[string]string{"write": s.how}, nil }

func (s *store) Busy() int64 { return 0 }

func (s *store) Close() error { return nil }

type session struct{ *store }

func (s *session) name(id int64) string {
	return filepath.Join(s.dir, strconv.FormatInt(id, 10)+".json")
}

func (s *session) Insert(t *bench.Task) error {
	t.ID = s.ids.Add(1)
	return s.put(t)
}

func (s *session) put(t *bench.Task) error {
	data, err := json.Marshal(t)
	if err != nil {
		return err
	}
	return s.write(s.name(t.ID), data)
}

func (s *session) change(id int64, fn func(t *bench.Task)) error {
	var t bench.Task
	data, err := os.ReadFile(s.name(id))
	if err == nil {
		err = json.Unmarshal(data, &t)
	}
	if err != nil {
		return err
	}
	fn(&t)
	return s.put(&t)
}

func (s *session) SetStatus(id int64, status string) error {
	return s.change(id, func(t *bench.Task) { t.Status = status })
}

func (s *session) SetOutput(id int64, output string) error {
	return s.change(id, func(t *bench.Task) { t.Output = output })
}

func (s *session) Delete(id int64) error { return os.Remove(s.name(id)) }

func (s *session) Sum() (sum bench.Sum, err error) {
	entries, err := os.ReadDir(s.dir)
	if err != nil {
		return sum, err
	}
	for _, e := range entries {
		var t bench.Task
		data, err := os.ReadFile(filepath.Join(s.dir, e.Name()))
		if err == nil {
			err = json.Unmarshal(data, &t)
		}
		if err != nil {
			return sum, err
		}
		sum.Count, sum.IDs, sum.Output = sum.Count+1, sum.IDs+t.ID, sum.Output+int64(len(t.Output))
	}
	return sum, nil
}

func (s *session) Close() error { return nil }
