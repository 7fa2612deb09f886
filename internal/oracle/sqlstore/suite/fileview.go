package suite

import (
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/foliofs/folio"
	"github.com/foliofs/folio/internal/volumetest"
)

// testFileView writes view file of one volume by SQL, and makes the same calls on another volume by
// the library. It also changes the first volume by the library, and takes snapshots of it.
func (d *Driver) testFileView(t *testing.T) {
	w := d.newViewTest(t)
	for i := range *calls {
		w.step(t)
		if i%100 == 99 {
			w.compare(t)
		}
		if t.Failed() {
			return
		}
	}
	w.compare(t)
	for _, v := range []*folio.Volume{w.written, w.called} {
		volumetest.WantClean(t, v)
	}
	wantFileAt(t, w.written, w.db)
	var sound string
	must(t, w.db.QueryRow("PRAGMA integrity_check").Scan(&sound))
	if sound != "ok" {
		t.Errorf("integrity_check: %s", sound)
	}
}

// A viewTest has a volume that SQL writes, and one that the library does.
type viewTest struct {
	r               *rand.Rand
	db              *sql.DB
	written, called *folio.Volume
	snapshots       int
	done            []string // the last steps
}

func (d *Driver) newViewTest(t *testing.T) *viewTest {
	w := &viewTest{r: random(t)}
	dir := t.TempDir()
	for name, v := range map[string]**folio.Volume{"written": &w.written, "called": &w.called} {
		var err error
		*v, err = folio.Open(filepath.Join(dir, name), &folio.Options{Create: true})
		must(t, err)
		t.Cleanup(func() { _ = (*v).Close() })
	}
	var err error
	w.db, err = sql.Open(d.Name, d.dsn(filepath.Join(dir, "written")))
	must(t, err)
	t.Cleanup(func() { _ = w.db.Close() })
	w.db.SetMaxOpenConns(1)
	_, err = w.db.Exec("PRAGMA busy_timeout = 10000")
	must(t, err)
	return w
}

// step runs a statement, and makes the call that means the same.
func (w *viewTest) step(t *testing.T) {
	name, other, data := volumetest.RandomName(w.r), volumetest.RandomName(w.r), volumetest.RandomData(w.r)
	info, err := w.called.Lstat(name)
	there := err == nil
	isFile, isDir := there && info.Mode().IsRegular(), there && info.IsDir()
	at := time.Unix(w.r.Int64N(4e9)-1e9, 0)
	sqlTime := at.UTC().Format("2006-01-02T15:04:05Z")
	perm := fs.FileMode(w.r.IntN(0o1000))
	target := "nowhere/" + other // SQL follows no symbolic link
	switch w.r.IntN(12) {
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
	switch w.r.IntN(6) {
	case 0:
		w.snapshots++
		must(t, w.written.Snapshot(t.Context(), fmt.Sprint(w.snapshots)))
		if w.snapshots > 3 {
			must(t, w.written.RemoveSnapshot(t.Context(), fmt.Sprint(w.snapshots-3)))
		}
	case 1:
		w.same(t, w.written.Link(name, other), w.called.Link(name, other))
	case 2:
		w.same(t, w.written.WriteFile(name, data, 0o600), w.called.WriteFile(name, data, 0o600))
	case 3:
		w.same(t, w.written.RemoveAll(name), w.called.RemoveAll(name))
	default:
		w.same(t, w.written.Clone(name, other), w.called.Clone(name, other))
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
	must(t, fs.WalkDir(v.FS(), ".", func(name string, _ fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := v.Lstat(name)
		must(t, err)
		n := info.Sys().(*folio.Node)
		content := ""
		switch {
		case info.Mode().IsRegular():
			p, err := v.ReadFile(name)
			must(t, err)
			content = volumetest.Hash(p)
		case info.Mode()&fs.ModeSymlink != 0:
			content, err = v.Readlink(name)
			must(t, err)
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
