package folio_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"testing/fstest"
	"time"

	"github.com/foliofs/folio"
)

// site makes a small volume and returns its path.
func site() string {
	dir, err := os.MkdirTemp("", "folio")
	if err != nil {
		log.Fatal(err)
	}
	path := filepath.Join(dir, "site.folio")
	err = folio.ImportFS(context.Background(), path, fstest.MapFS{
		"index.html":      {Data: []byte("<h1>Folio</h1>")},
		"docs/format.txt": {Data: []byte("one SQLite file")},
		"docs/latest":     {Data: []byte("format.txt"), Mode: fs.ModeSymlink},
	}, nil)
	if err != nil {
		log.Fatal(err)
	}
	return path
}

func Example() {
	path := site()
	defer os.RemoveAll(filepath.Dir(path))

	vol, err := folio.Open(path, nil)
	if err != nil {
		log.Fatal(err)
	}
	defer vol.Close()

	text, err := vol.ReadFile("docs/latest")
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("%s\n", text)
	// Output: one SQLite file
}

func ExampleVolume_FS() {
	path := site()
	defer os.RemoveAll(filepath.Dir(path))
	vol, err := folio.Open(path, nil)
	if err != nil {
		log.Fatal(err)
	}
	defer vol.Close()

	err = fs.WalkDir(vol.FS(), ".", func(name string, d fs.DirEntry, err error) error {
		fmt.Println(d.Type(), name)
		return err
	})
	if err != nil {
		log.Fatal(err)
	}
	http.Handle("/", http.FileServerFS(vol.FS())) // with ranges, types and modification times
	// Output:
	// d--------- .
	// d--------- docs
	// ---------- docs/format.txt
	// L--------- docs/latest
	// ---------- index.html
}

// A site is replaced by its next version as a whole: a visitor sees the one or the other, whatever
// fails meanwhile.
func ExampleVolume_Update() {
	path := site()
	defer os.RemoveAll(filepath.Dir(path))
	vol, err := folio.Open(path, nil)
	if err != nil {
		log.Fatal(err)
	}
	defer vol.Close()

	deploy := func(pages map[string]string) error {
		return vol.Update(context.Background(), func(tx *folio.Tx) error {
			if err := errors.Join(tx.RemoveAll("docs"), tx.Mkdir("docs", 0o755)); err != nil {
				return err
			}
			for name, text := range pages {
				if err := tx.WriteFile("docs/"+name, []byte(text), 0o644); err != nil {
					return err
				}
			}
			return nil
		})
	}
	fmt.Println(deploy(map[string]string{"a.txt": "new", "b.txt": "new", "missing/c.txt": "new"}))
	fmt.Println(fs.Glob(vol.FS(), "docs/*"))
	fmt.Println(deploy(map[string]string{"a.txt": "new", "b.txt": "new"}))
	fmt.Println(fs.Glob(vol.FS(), "docs/*"))
	// Output:
	// openat docs/missing/c.txt: no such file or directory
	// [docs/format.txt docs/latest] <nil>
	// <nil>
	// [docs/a.txt docs/b.txt] <nil>
}

// A volume is served by HTTP as a directory is. Package adapter/web adds ETags.
func ExampleVolume_FS_http() {
	path := site()
	defer os.RemoveAll(filepath.Dir(path))
	vol, err := folio.Open(path, nil)
	if err != nil {
		log.Fatal(err)
	}
	defer vol.Close()

	server := httptest.NewServer(http.FileServerFS(vol.FS()))
	defer server.Close()
	request, err := http.NewRequest("GET", server.URL+"/docs/format.txt", nil)
	if err != nil {
		log.Fatal(err)
	}
	request.Header.Set("Range", "bytes=4-9")
	answer, err := http.DefaultClient.Do(request)
	if err != nil {
		log.Fatal(err)
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("%s: %s\n", answer.Header.Get("Content-Type"), text)
	// Output: text/plain; charset=utf-8: SQLite
}

func ExampleVolume_View() {
	path := site()
	defer os.RemoveAll(filepath.Dir(path))
	vol, err := folio.Open(path, nil)
	if err != nil {
		log.Fatal(err)
	}
	defer vol.Close()

	// The list and the sizes belong together, even if other goroutines write meanwhile.
	err = vol.View(context.Background(), func(rx *folio.Rx) error {
		list, err := rx.ReadDir("docs")
		if err != nil {
			return err
		}
		for _, d := range list {
			info, err := d.Info()
			if err != nil {
				return err
			}
			fmt.Println(info.Name(), info.Size())
		}
		return nil
	})
	if err != nil {
		log.Fatal(err)
	}
	// Output:
	// format.txt 15
	// latest 10
}

func ExampleCreate() {
	dir, err := os.MkdirTemp("", "folio")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	path := filepath.Join(dir, "new.folio")

	ctx := context.Background()
	err = folio.Create(ctx, path, nil, func(b *folio.Builder) error {
		day := time.Date(2026, 11, 20, 0, 0, 0, 0, time.UTC)
		if err := b.Add(&folio.Header{Name: "logs", Mode: fs.ModeDir | 0o750, ModTime: day}, nil); err != nil {
			return err
		}
		if err := b.AddBytes(&folio.Header{Name: "logs/a.log", Mode: 0o640, ModTime: day}, []byte("started\n")); err != nil {
			return err
		}
		return b.Link("logs/a.log", "logs/current.log")
	})
	if err != nil {
		log.Fatal(err)
	}

	vol, err := folio.Open(path, nil)
	if err != nil {
		log.Fatal(err)
	}
	defer vol.Close()
	info, err := vol.Stat("logs/current.log")
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(info.Mode(), info.Size(), info.Sys().(*folio.Node).Nlink)
	report, err := vol.Check(ctx, nil)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(report.OK(), report.Nodes)
	// Output:
	// -rw-r----- 8 2
	// true 3
}

func ExampleImportFS() {
	dir, err := os.MkdirTemp("", "folio")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	src := fstest.MapFS{"a.txt": {Data: []byte("a")}, "b/c.txt": {Data: []byte("bc")}}

	o := &folio.ImportOptions{Progress: func(name string, so folio.BuildStats) { fmt.Println(so.Files, so.Bytes, name) }}
	if err := folio.ImportFS(context.Background(), filepath.Join(dir, "v.folio"), src, o); err != nil {
		log.Fatal(err)
	}
	// Output:
	// 0 0 .
	// 1 1 a.txt
	// 1 1 b
	// 2 3 b/c.txt
}

// A deployment replaces the files that have changed, and no reader sees half of it.
func ExampleVolume_Merge() {
	dir, err := os.MkdirTemp("", "folio")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	vol, err := folio.Open(filepath.Join(dir, "site.folio"), &folio.Options{Create: true, MaxSize: 1 << 30})
	if err != nil {
		log.Fatal(err)
	}
	defer vol.Close()

	next := fstest.MapFS{
		"index.html":    {Data: []byte("<h1>Hello</h1>")},
		"css/style.css": {Data: []byte("h1 { color: teal }")},
	}
	o := &folio.MergeOptions{
		Policy:   folio.MergeChanged,
		Progress: func(name string, done folio.MergeStats) { fmt.Println(name, done.Bytes) },
	}
	if err := vol.Merge(context.Background(), next, "www", o); err != nil {
		log.Fatal(err) // and the site is as it was
	}
	page, err := vol.ReadFile("www/index.html")
	fmt.Println(string(page), err)
	// Output:
	// css/style.css 18
	// css 18
	// index.html 32
	// <h1>Hello</h1> <nil>
}

// ExampleOpenReaderAt reads a volume that a program holds as bytes, for example by go:embed.
func ExampleOpenReaderAt() {
	data, err := os.ReadFile(site())
	if err != nil {
		log.Fatal(err)
	}
	vol, err := folio.OpenReaderAt(bytes.NewReader(data), int64(len(data)), nil)
	if err != nil {
		log.Fatal(err)
	}
	defer vol.Close()
	text, err := vol.ReadFile("docs/latest")
	fmt.Printf("%s %v\n", text, err)
	fmt.Println(errors.Is(vol.Remove("docs/latest"), folio.ErrReadOnly))
	// Output:
	// one SQLite file <nil>
	// true
}
