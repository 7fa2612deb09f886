// Package folder makes the database of the benchmarks by C SQLite: one table of unique random
// paths.
package folder

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/foliofs/folio/internal/oracle/folder/paths"
	"github.com/foliofs/folio/internal/oracle/judge"
)

// Schema is the one table.
const Schema = "CREATE TABLE folder_paths (id INTEGER PRIMARY KEY, path TEXT UNIQUE NOT NULL)"

// Write makes the database at path, whole or not at all.
func Write(path string, rows int, seed uint64) error {
	tmp := path + ".tmp"
	if err := os.RemoveAll(tmp); err != nil {
		return err
	}
	if err := fill(tmp, rows, seed); err != nil {
		return err
	}
	return os.Rename(tmp, path)
}

func fill(path string, rows int, seed uint64) (err error) {
	c, err := judge.Open("file:" + path + "?_journal_mode=off&_sync=off&_cache_size=-400000")
	if err != nil {
		return err
	}
	defer func() {
		if cerr := c.Close(); err == nil {
			err = cerr
		}
	}()
	if err := c.Exec(Schema + "; BEGIN"); err != nil {
		return err
	}
	s, err := c.Prepare("INSERT INTO folder_paths VALUES (?, ?)")
	if err != nil {
		return err
	}
	defer s.Close()
	for id := int64(1); id <= int64(rows); id++ {
		if err := s.Exec(id, string(paths.Append(nil, seed, id))); err != nil {
			return fmt.Errorf("row %d: %w", id, err)
		}
	}
	return c.Exec("COMMIT")
}

// Cached is the name of such a database in the user's cache, which it makes if it is not there.
func Cached(rows int, seed uint64) (string, error) {
	dir, err := CacheDir()
	if err != nil {
		return "", err
	}
	path := filepath.Join(dir, fmt.Sprintf("folder_paths-%d-%d.db", rows, seed))
	if _, err := os.Stat(path); err == nil {
		return path, nil
	}
	return path, Write(path, rows, seed)
}

// CacheDir is the directory for files that the experiments keep between runs.
func CacheDir() (string, error) {
	base, err := os.UserCacheDir()
	if err != nil {
		return "", err
	}
	dir := filepath.Join(base, "folio-oracle")
	return dir, os.MkdirAll(dir, 0o755)
}
