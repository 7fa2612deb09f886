package harness

import (
	"errors"

	"github.com/foliofs/folio/lab/workload"
)

// makeFolder makes the database in one transaction. Its paths are inserted as they come, into a
// cache that holds the index.
func (d Driver) makeFolder(f *workload.Folder, path string, progress func(rows int)) (err error) {
	c, err := d.Open(path, Write)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, c.Close()) }()
	for _, query := range []string{"PRAGMA journal_mode = OFF", "PRAGMA synchronous = OFF", "PRAGMA cache_size = -1000000"} {
		if _, err := text(c, query); err != nil {
			return err
		}
	}
	for _, query := range []string{workload.FolderSchema, "BEGIN"} {
		if err := exec(c, query); err != nil {
			return err
		}
	}
	s, err := c.Prepare("INSERT INTO folder_paths VALUES (?, ?)", nil)
	if err != nil {
		return err
	}
	for id := 1; id <= f.Rows; id++ {
		if err := s.Run([]workload.Value{workload.Int(int64(id)), workload.Str(f.Path(int64(id)))}, nil); err != nil {
			return errors.Join(err, s.Close())
		}
		if id%10000 == 0 {
			progress(id)
		}
	}
	return errors.Join(s.Close(), exec(c, "COMMIT"))
}
