package sqlstore_test

import (
	"bytes"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/foliofs/folio"
	"github.com/foliofs/folio/internal/must"
	"github.com/foliofs/folio/internal/oracle/sqlstore/suite"
	"github.com/foliofs/folio/internal/random"
	"github.com/foliofs/folio/internal/roottest"
	"github.com/foliofs/folio/internal/volumetest"
)

// TestFileView writes view file of one volume by SQL, and makes the same calls on another volume by
// the library. It also changes the first volume by the library, clones among its files, and takes
// snapshots of it.
func TestFileView(t *testing.T) {
	eachDriver(t, func(t *testing.T, d *suite.Driver) {
		w := newViewTest(t, d)
		for i := range *steps {
			w.step(t)
			if i%100 == 99 {
				w.compare(t)
			}
			if t.Failed() {
				return
			}
		}
		w.compare(t)
		t.Logf("of %d statements and calls, statements changed %d files that shared content and removed %d", *steps, w.changed, w.removed)
		if *steps >= 1000 && (w.changed == 0 || w.removed == 0) {
			t.Error("no statement changed or removed a file that shares content")
		}
		for _, v := range []*folio.Volume{w.written, w.called} {
			volumetest.WantClean(t, v)
		}
		wantFileAt(t, w.written, w.db)
		_, err := w.db.Exec("PRAGMA reverse_unordered_selects = 1") // contents are in order all the same
		must.Do(t, err)
		wantFileAt(t, w.written, w.db)
		w.wantFile(t)
		var sound string
		must.Do(t, w.db.QueryRow("PRAGMA integrity_check").Scan(&sound))
		if sound != "ok" {
			t.Errorf("integrity_check: %s", sound)
		}
	})
}

// A viewTest holds a volume that SQL writes, and one that the library does.
type viewTest struct {
	r               *rand.Rand
	db              *sql.DB
	written, called *folio.Volume
	snapshots       int
	changed         int      // files that shared content before a statement changed it
	removed         int      // files that shared content before a statement removed them
	done            []string // the last steps
}

func newViewTest(t *testing.T, d *suite.Driver) *viewTest {
	w := &viewTest{r: random.New(t)}
	dir := t.TempDir()
	for name, v := range map[string]**folio.Volume{"written": &w.written, "called": &w.called} {
		var err error
		*v, err = folio.Open(filepath.Join(dir, name), &folio.Options{Create: true})
		must.Do(t, err)
		t.Cleanup(func() { _ = (*v).Close() })
	}
	var err error
	w.db, err = sql.Open(d.Name, filepath.Join(dir, "written"))
	must.Do(t, err)
	t.Cleanup(func() { _ = w.db.Close() })
	w.db.SetMaxOpenConns(1)
	_, err = w.db.Exec("PRAGMA busy_timeout = 10000")
	must.Do(t, err)
	return w
}

// step runs a statement, and makes the call that means the same.
func (w *viewTest) step(t *testing.T) {
	name, other, data := randomName(w.r), randomName(w.r), randomData(w.r)
	kind := w.r.IntN(18)
	if kind > 5 && w.r.IntN(2) == 0 { // a file that is there, and one that may be made
		name, other = w.search(name, true), w.search(other, false)
	}
	info, err := w.called.Lstat(name)
	there := err == nil
	isFile, isDir := there && info.Mode().IsRegular(), there && info.IsDir()
	at := time.Unix(w.r.Int64N(4e9)-1e9, 0)
	sqlTime := at.UTC().Format("2006-01-02T15:04:05Z")
	perm := fs.FileMode(w.r.IntN(0o1000))
	target := "nowhere/" + other // SQL follows no symbolic link
	switch kind {
	case 0, 1, 2:
		w.both(t, there, func() error {
			return errors.Join(w.called.WriteFile(name, data, 0o644), w.called.Chmod(name, perm), w.called.Chtimes(name, at, at))
		}, "INSERT INTO file (path, content, mode, mtime) VALUES (?, ?, ?, ?)", name, data, fmt.Sprintf("%04o", perm), sqlTime)
	case 3, 4:
		w.both(t, there, func() error { return w.called.Mkdir(name, 0o755) }, "INSERT INTO file (path, type) VALUES (?, 'dir')", name)
	case 5:
		w.both(t, there, func() error { return w.called.Symlink(target, name) }, "INSERT INTO file (path, type, content) VALUES (?, 'symlink', ?)", name, target)
	case 6:
		if !isFile {
			data = nil
		}
		w.count(t, &w.changed, name, isFile)
		w.both(t, false, func() error {
			if !isFile || len(data) == 0 && info.Size() == 0 { // the same content is no change
				return nil
			}
			return w.called.WriteFile(name, data, 0)
		}, "UPDATE file SET content = ? WHERE path = ? AND type = 'file'", data, name)
	case 7:
		w.move(t, name, other, there)
	case 8:
		w.both(t, false, func() error {
			if !isFile && !isDir {
				return nil
			}
			return errors.Join(w.called.Chmod(name, perm), w.called.Chtimes(name, at, at))
		}, "UPDATE file SET mode = ?, mtime = ? WHERE path = ? AND type <> 'symlink'", fmt.Sprintf("%o", perm), sqlTime, name)
	case 9:
		w.count(t, &w.removed, name, isFile)
		w.both(t, false, func() error {
			if !there {
				return nil
			}
			return w.called.RemoveAll(name)
		}, "DELETE FROM file WHERE path = ?", name)
	case 10:
		w.both(t, false, func() error { return w.removeBelow(name) }, "DELETE FROM file WHERE path GLOB ? || '/*'", name)
	default:
		w.besides(t, name, other, data)
	}
}

// randomName returns a path of few different ones.
func randomName(r *rand.Rand) string {
	parts := make([]string, 1+r.IntN(3))
	for i := range parts {
		parts[i] = random.Letter(r)
	}
	return strings.Join(parts, "/")
}

func randomData(r *rand.Rand) []byte {
	switch r.IntN(8) {
	case 0:
		return random.Bytes(r, r.IntN(200_000))
	case 1:
		return random.Bytes(r, 65536*r.IntN(3)+r.IntN(3))
	}
	return random.Bytes(r, r.IntN(100))
}

// search returns the name of a regular file that has content, or a free name in a directory that is
// there. It returns name if it finds none.
func (w *viewTest) search(name string, isFile bool) string {
	for range 50 {
		found := randomName(w.r)
		info, err := w.called.Lstat(found)
		dir, dirErr := w.called.Lstat(path.Dir(found))
		if dirErr == nil && dir.IsDir() && (err == nil) == isFile && (!isFile || info.Mode().IsRegular() && info.Size() > 0) {
			return found
		}
	}
	return name
}

// move renames a file, with the rows of all that is in it.
func (w *viewTest) move(t *testing.T, from, to string, there bool) {
	_, err := w.called.Lstat(to)
	taken := err == nil && from != to
	w.both(t, there && taken, func() error {
		if !there || from == to {
			return nil
		}
		return w.called.Rename(from, to)
	}, "UPDATE file SET path = ?1 || substr(path, length(?2) + 1) WHERE path = ?2 OR path GLOB ?2 || '/*'", to, from)
}

// removeBelow removes what is in a directory.
func (w *viewTest) removeBelow(dir string) error {
	info, err := w.called.Lstat(dir)
	if err != nil || !info.IsDir() {
		return nil
	}
	list, err := w.called.ReadDir(dir)
	for _, e := range list {
		err = errors.Join(err, w.called.RemoveAll(dir+"/"+e.Name()))
	}
	return err
}

// besides changes both volumes by the library, or takes a snapshot of the first.
func (w *viewTest) besides(t *testing.T, name, other string, data []byte) {
	switch w.r.IntN(10) {
	case 0:
		w.snapshots++
		must.Do(t, w.written.CreateSnapshot(t.Context(), fmt.Sprint(w.snapshots)))
		if w.snapshots > 3 {
			must.Do(t, w.written.RemoveSnapshot(t.Context(), fmt.Sprint(w.snapshots-3)))
		}
	case 1:
		w.same(t, w.written.Link(name, other), w.called.Link(name, other))
	case 2:
		w.same(t, w.written.WriteFile(name, data, 0o600), w.called.WriteFile(name, data, 0o600))
	case 3:
		w.same(t, w.written.RemoveAll(name), w.called.RemoveAll(name))
	case 4:
		w.same(t, w.written.CloneFile(name, other), w.called.CloneFile(name, other))
	case 5:
		w.same(t, w.written.CopyFile(name, other), w.called.CopyFile(name, other))
	case 6:
		data, off := data[:min(len(data), 70_000)], w.r.Int64N(150_000)
		w.open(t, name, func(f *folio.File) error {
			_, err := f.WriteAt(data, off)
			return err
		})
	case 7:
		size := w.r.Int64N(200_000)
		w.open(t, name, func(f *folio.File) error { return f.Truncate(size) })
	default:
		w.same(t, w.written.Clone(name, other), w.called.Clone(name, other))
	}
}

// open makes a call on a file of both volumes.
func (w *viewTest) open(t *testing.T, name string, call func(f *folio.File) error) {
	var errs []error
	for _, v := range []*folio.Volume{w.written, w.called} {
		f, err := v.OpenFile(name, os.O_WRONLY, 0)
		if err == nil {
			err = errors.Join(call(f), f.Close())
		}
		errs = append(errs, err)
	}
	w.same(t, errs[0], errs[1])
}

// count adds one to n if a file shares content with another one.
func (w *viewTest) count(t *testing.T, n *int, name string, isFile bool) {
	if !isFile {
		return
	}
	info, err := w.written.Lstat(name)
	must.Do(t, err)
	var shares bool
	err = w.db.QueryRow("SELECT EXISTS (SELECT 1 FROM origin WHERE ?1 IN (ino, base))", info.Sys().(*folio.Node).Ino).Scan(&shares)
	if err == nil && shares { // without clones there is no table origin
		*n++
	}
}

func (w *viewTest) same(t *testing.T, a, b error) {
	if (a == nil) != (b == nil) {
		t.Errorf("%v; the other volume: %v", a, b)
	}
}

// both runs a statement, and makes the same call unless the statement must be refused.
func (w *viewTest) both(t *testing.T, refused bool, call func() error, query string, args ...any) {
	_, err := w.db.Exec(query, args...)
	w.done = append(w.done, fmt.Sprintf("%s %.60q: %v", query, args, err))
	w.done = w.done[max(0, len(w.done)-8):]
	if refused {
		if err == nil || !strings.Contains(err.Error(), "file: ") {
			t.Errorf("%s %.60q: %v, want it refused", query, args, err)
		}
		return
	}
	if own := call(); (own == nil) != (err == nil) {
		t.Errorf("%s %.60q: %v; the same by the library: %v", query, args, err, own)
	}
}

// wantFile compares view file with the files of the volume.
func (w *viewTest) wantFile(t *testing.T) {
	rows, err := w.db.Query("SELECT path, content FROM file WHERE type = 'file'")
	must.Do(t, err)
	defer rows.Close()
	for rows.Next() {
		var name string
		var content []byte
		must.Do(t, rows.Scan(&name, &content))
		if want, err := w.written.ReadFile(name); err != nil || !bytes.Equal(content, want) {
			t.Errorf("%s: view file has another content of %d bytes; %v", name, len(content), err)
		}
	}
	must.Do(t, rows.Err())
}

// compare compares the two trees.
func (w *viewTest) compare(t *testing.T) {
	t.Helper()
	got, want := treeOf(t, w.written), treeOf(t, w.called)
	for i := range max(len(got), len(want)) {
		a, b := "", ""
		if i < len(got) {
			a = got[i]
		}
		if i < len(want) {
			b = want[i]
		}
		if a != b {
			t.Errorf("SQL has %q, the library %q, after %s", a, b, strings.Join(w.done, "\n"))
			return
		}
	}
}

// treeOf describes all files of a volume. Times of last changes count where calls have set them.
func treeOf(t *testing.T, v *folio.Volume) (list []string) {
	must.Do(t, fs.WalkDir(v.FS(), ".", func(name string, _ fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := v.Lstat(name)
		must.Do(t, err)
		n := info.Sys().(*folio.Node)
		content := ""
		switch {
		case info.Mode().IsRegular():
			p, err := v.ReadFile(name)
			must.Do(t, err)
			content = roottest.Hash(p)
		case info.Mode()&fs.ModeSymlink != 0:
			content, err = v.Readlink(name)
			must.Do(t, err)
		}
		line := fmt.Sprintf("%s %o %d %d %d %s", name, n.Mode, n.Nlink, n.Size, n.Holes, content)
		if now := time.Since(info.ModTime()); now > time.Hour || now < -time.Hour {
			line += info.ModTime().UTC().String()
		}
		list = append(list, line)
		return nil
	}))
	slices.Sort(list)
	return list
}
