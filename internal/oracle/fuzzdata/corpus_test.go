package fuzzdata

import (
	"context"
	"fmt"
	"iter"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/foliofs/folio/sqlitefile"
)

// imageCount is how many images the files hold together.
const imageCount = 10461

// An image is a file that may or may not be a database.
type image struct {
	name  string // fuzzdataN.db and the row
	bytes []byte
}

// corpusDir is the directory of the files, in the module whose testdata they are.
func corpusDir(t *testing.T) string {
	out, err := exec.Command("go", "mod", "download", "-json", "modernc.org/sqlite").CombinedOutput()
	if err != nil {
		t.Skipf("SQLite's fuzz images: their module is not to be had: %v: %s", err, out)
	}
	dir, err := exec.Command("go", "list", "-m", "-f", "{{.Dir}}", "modernc.org/sqlite").Output()
	if err != nil {
		t.Fatal(err)
	}
	return filepath.Join(strings.TrimSpace(string(dir)), "testdata", "tcl")
}

// images yields all images; the engine reads the files that hold them. An error is the last thing
// that it yields.
func images(dir string) iter.Seq2[image, error] {
	return func(yield func(image, error) bool) {
		files, err := filepath.Glob(filepath.Join(dir, "fuzzdata*.db"))
		if err == nil && len(files) == 0 {
			err = fmt.Errorf("no fuzzdata*.db in %s", dir)
		}
		if err != nil {
			yield(image{}, err)
			return
		}
		for _, f := range files {
			if !imagesOf(f, yield) {
				return
			}
		}
	}
}

// imagesOf yields the images in one file and reports whether to go on.
func imagesOf(file string, yield func(image, error) bool) (more bool) {
	db, err := sqlitefile.Open(file, nil)
	if err != nil {
		yield(image{}, err)
		return false
	}
	defer db.Close()
	err = db.View(context.Background(), func(rx *sqlitefile.Rx) error {
		t, err := rx.Table("db")
		if err != nil {
			return err
		}
		for row, err := range t.All() {
			if err != nil {
				return err
			}
			content, err := row.Bytes(1)
			if err != nil {
				return err
			}
			img := image{fmt.Sprintf("%s/%d", filepath.Base(file), row.Rowid()), append([]byte(nil), content...)}
			if more = yield(img, nil); !more {
				return nil
			}
		}
		more = true
		return nil
	})
	if err != nil {
		yield(image{}, err)
		return false
	}
	return more
}
