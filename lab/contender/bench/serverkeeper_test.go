//go:build unix

package bench

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/foliofs/folio"
	"github.com/foliofs/folio/internal/private"
	"github.com/foliofs/folio/internal/store/pgstore"
)

// A volumeKeeper keeps files in a volume, on a server or in a file.
type volumeKeeper struct {
	*folio.Volume
	name    string // for the command
	command string
	sync    bool // a change is durable after a sync only
}

// noCache leaves the caches of directories and inodes out.
var noCache = &folio.Options{CacheSize: -1, Create: true}

func openServerVolume(address, command string) (keeper, error) {
	s, err := pgstore.Open(background, address, &pgstore.Options{Create: true})
	if err != nil {
		return nil, err
	}
	v, err := folio.OpenStore(private.Key{}, s, noCache)
	return &volumeKeeper{Volume: v, name: address, command: command}, err
}

func openFileVolume(path, command string) (keeper, error) {
	v, err := folio.Open(path, noCache)
	return &volumeKeeper{Volume: v, name: path, command: command, sync: true}, err
}

func (k *volumeKeeper) fill(files []namedContent) error {
	return k.Update(background, func(tx *folio.Tx) error {
		for _, f := range files {
			if err := errors.Join(tx.MkdirAll(path.Dir(f.name), 0o755), tx.WriteFile(f.name, f.content, 0o644)); err != nil {
				return err
			}
		}
		return nil
	})
}

func (k *volumeKeeper) mkdir(dir string) error { return k.Mkdir(dir, 0o755) }

func (k *volumeKeeper) create(name string, content []byte) error {
	err := k.WriteFile(name, content, 0o644)
	if err == nil && k.sync {
		err = k.Sync(background)
	}
	return err
}

func (k *volumeKeeper) read(name string) ([]byte, error) { return k.ReadFile(name) }

func (k *volumeKeeper) stat(name string) (int64, error) {
	info, err := k.Stat(name)
	if err != nil {
		return 0, err
	}
	return info.Size(), nil
}

func (k *volumeKeeper) list(dir string) (s sum, err error) {
	err = k.View(background, func(rx *folio.Rx) error {
		s, err = listFS(rx.FS(), dir)
		return err
	})
	return s, err
}

// listFS reads the entries of a directory with their attributes.
func listFS(fsys fs.FS, dir string) (s sum, err error) {
	list, err := fs.ReadDir(fsys, dir)
	for _, e := range list {
		info, err := e.Info()
		if err != nil {
			return s, err
		}
		s.entries++
		s.bytes += info.Size()
	}
	return s, err
}

func (k *volumeKeeper) count(dir string) (n int, err error) {
	err = k.View(background, func(rx *folio.Rx) error {
		n, err = countFiles(rx.FS(), dir)
		return err
	})
	return n, err
}

func (k *volumeKeeper) copyIn(from, dir string) error {
	return run(k.command, "cp", "-r", from, k.name+":"+dir)
}

func (k *volumeKeeper) copyOut(dir, to string) error {
	return run(k.command, "cp", "-r", k.name+":"+dir, to)
}

func (k *volumeKeeper) clone(dir, to string) error {
	err := k.Clone(dir, to)
	if err == nil && k.sync {
		err = k.Sync(background)
	}
	return err
}

func (k *volumeKeeper) close() error { return k.Close() }

func run(name string, args ...string) error {
	out, err := exec.Command(name, args...).CombinedOutput()
	if err != nil {
		err = fmt.Errorf("%s %q: %w: %s", filepath.Base(name), args, err, out)
	}
	return err
}

// A directory keeps files on disk.
type directory string

func (d directory) path(name string) string { return filepath.Join(string(d), name) }

func (d directory) fill(files []namedContent) error {
	for _, f := range files {
		name := d.path(f.name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(name), 0o755), os.WriteFile(name, f.content, 0o644)); err != nil {
			return err
		}
	}
	return nil
}

func (d directory) mkdir(dir string) error { return os.Mkdir(d.path(dir), 0o755) }

// create writes a temporary file and renames it, with the syncs that this needs.
func (d directory) create(name string, content []byte) error {
	name = d.path(name)
	f, err := os.CreateTemp(filepath.Dir(name), "tmp")
	if err != nil {
		return err
	}
	_, err = f.Write(content)
	if err == nil {
		err = f.Sync()
	}
	if err := errors.Join(err, f.Close()); err != nil {
		return err
	}
	if err := os.Rename(f.Name(), name); err != nil {
		return err
	}
	parent, err := os.Open(filepath.Dir(name))
	if err != nil {
		return err
	}
	return errors.Join(parent.Sync(), parent.Close())
}

func (d directory) read(name string) ([]byte, error) { return os.ReadFile(d.path(name)) }

func (d directory) stat(name string) (int64, error) {
	info, err := os.Stat(d.path(name))
	if err != nil {
		return 0, err
	}
	return info.Size(), nil
}

func (d directory) list(dir string) (sum, error) { return listFS(os.DirFS(string(d)), dir) }

func (d directory) count(dir string) (int, error) { return countFiles(os.DirFS(string(d)), dir) }

func (d directory) copyIn(from, dir string) error { return run("cp", "-r", from, d.path(dir)) }

func (d directory) copyOut(dir, to string) error { return run("cp", "-r", d.path(dir), to) }
func (d directory) clone(dir, to string) error   { return run("cp", "-r", d.path(dir), d.path(to)) }
func (d directory) close() error                 { return nil }

// A table keeps contents by their names, without directories.
type table struct{ pool *pgxpool.Pool }

func openTable(address string, clients int) (keeper, error) {
	pool, err := openPool(address, clients)
	return table{pool}, err
}

// rows are contents as they are sent by COPY.
func (t table) fill(files []namedContent) error {
	i := -1
	return t.copyRows(func() (string, []byte, error) {
		if i++; i == len(files) {
			return "", nil, nil
		}
		return files[i].name, files[i].content, nil
	})
}

// copyRows sends files until next returns an empty name.
func (t table) copyRows(next func() (name string, content []byte, err error)) error {
	_, err := t.pool.CopyFrom(background, pgx.Identifier{"file"}, []string{"name", "mode", "mtime", "content"},
		pgx.CopyFromFunc(func() ([]any, error) {
			name, content, err := next()
			if name == "" || err != nil {
				return nil, err
			}
			return []any{name, 0o644, time.Now().UnixNano(), content}, nil
		}))
	return err
}

func (t table) mkdir(string) error { return nil }

func (t table) create(name string, content []byte) error {
	_, err := t.pool.Exec(background, "INSERT INTO file VALUES ($1, $2, $3, $4)", name, 0o644, time.Now().UnixNano(), content)
	return err
}

func (t table) read(name string) (p []byte, err error) {
	err = t.pool.QueryRow(background, "SELECT content FROM file WHERE name = $1", name).Scan(&p)
	return p, err
}

func (t table) stat(name string) (size int64, err error) {
	var mode int
	var mtime int64
	err = t.pool.QueryRow(background, "SELECT mode, mtime, octet_length(content) FROM file WHERE name = $1", name).Scan(&mode, &mtime, &size)
	return size, err
}

// below are the names in a directory: "0" comes after "/".
const below = " FROM file WHERE name > $1 || '/' AND name < $1 || '0'"

func (t table) list(dir string) (s sum, err error) {
	rows, err := t.pool.Query(background, "SELECT name, mode, mtime, octet_length(content)"+below+" ORDER BY name", dir)
	if err != nil {
		return s, err
	}
	var name string
	var mode int
	var mtime, size int64
	_, err = pgx.ForEachRow(rows, []any{&name, &mode, &mtime, &size}, func() error {
		s.entries++
		s.bytes += size
		return nil
	})
	return s, err
}

func (t table) count(dir string) (n int, err error) {
	err = t.pool.QueryRow(background, "SELECT count(*)"+below, dir).Scan(&n)
	return n, err
}

func (t table) copyIn(from, dir string) error {
	fsys := os.DirFS(from)
	ctx, cancel := context.WithCancel(background)
	defer cancel()
	names, failed := make(chan string), make(chan error, 1)
	go func() {
		defer close(names)
		failed <- fs.WalkDir(fsys, ".", func(name string, d fs.DirEntry, err error) error {
			if err != nil || !d.Type().IsRegular() {
				return err
			}
			select {
			case names <- name:
				return nil
			case <-ctx.Done():
				return ctx.Err()
			}
		})
	}()
	return t.copyRows(func() (string, []byte, error) {
		name, ok := <-names
		if !ok {
			return "", nil, <-failed
		}
		p, err := fs.ReadFile(fsys, name)
		return dir + "/" + name, p, err
	})
}

func (t table) copyOut(dir, to string) error {
	rows, err := t.pool.Query(background, "SELECT name, content"+below+" ORDER BY name", dir)
	if err != nil {
		return err
	}
	var name, last string
	var p []byte
	_, err = pgx.ForEachRow(rows, []any{&name, &p}, func() error {
		out := filepath.Join(to, strings.TrimPrefix(name, dir+"/"))
		if parent := filepath.Dir(out); parent != last {
			if err := os.MkdirAll(parent, 0o755); err != nil {
				return err
			}
			last = parent
		}
		return os.WriteFile(out, p, 0o644)
	})
	return err
}

func (t table) clone(dir, to string) error {
	_, err := t.pool.Exec(background, "INSERT INTO file SELECT $2::text || substr(name, length($1) + 1), mode, mtime, content"+below, dir, to)
	return err
}

func (t table) close() error {
	t.pool.Close()
	return nil
}
