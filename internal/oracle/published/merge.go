package published

import (
	"context"
	"crypto/rand"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"path"
)

// ErrRoot says that a file at the root cannot be stored.
var ErrRoot = errors.New("a file at the root cannot be stored")

// Merge copies a tree in, in one transaction: all of it or nothing. Directories may be there, files
// may not: that is fs.ErrExist.
func (f *FS) Merge(ctx context.Context, src fs.FS) error {
	tx, err := f.db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer func() { _ = tx.Rollback() }() // does nothing after Commit
	err = fs.WalkDir(src, ".", func(name string, d fs.DirEntry, err error) error {
		if err == nil && name != "." {
			err = add(tx, src, name, d)
		}
		return err
	})
	if err != nil {
		return fmt.Errorf("merge: %w", err)
	}
	return tx.Commit()
}

// add adds one entry.
func add(tx *sql.Tx, src fs.FS, name string, d fs.DirEntry) error {
	parent, err := find(tx, path.Dir(name))
	if err != nil {
		return err
	}
	switch _, err := find(tx, name); {
	case err == nil && d.IsDir():
		return nil
	case err == nil:
		return &fs.PathError{Op: "add", Path: name, Err: fs.ErrExist}
	case !errors.Is(err, fs.ErrNotExist):
		return err
	}
	if !d.IsDir() && parent.id == "" {
		return &fs.PathError{Op: "add", Path: name, Err: ErrRoot}
	}
	return insert(tx, src, name, parent.id)
}

func insert(tx *sql.Tx, src fs.FS, name, parent string) error {
	info, err := fs.Stat(src, name)
	if err != nil {
		return err
	}
	var content any // NULL for a directory
	if !info.IsDir() {
		p, err := fs.ReadFile(src, name)
		if err != nil {
			return err
		}
		content = append([]byte{}, p...) // never nil
	}
	_, err = tx.Exec("INSERT INTO entries (id, parent_id, name, modtime, content) VALUES (?, ?, ?, ?, ?)",
		rand.Text(), orNull(parent), path.Base(name), info.ModTime().UnixNano(), content)
	return err
}
