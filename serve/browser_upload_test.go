package serve_test

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/chromedp"

	"github.com/foliofs/folio/serve"
)

// testUploads sends files, one of them over a connection that breaks off.
func testUploads(t *testing.T, b *browser) {
	b.look(1280, "dark", true)
	b.open("/src/")
	b.wait(`document.documentElement.classList.contains("scripted")`)
	dir := t.TempDir()
	large := bytes.Repeat([]byte("0123456789abcdef"), 3<<16)
	check(t, os.WriteFile(filepath.Join(dir, "large.bin"), large, 0o644))
	check(t, os.WriteFile(filepath.Join(dir, "notes.txt"), []byte("new notes\n"), 0o644))
	b.cut.Store(1 << 20)
	b.do(chromedp.SetUploadFiles(chromedp.CSS("#files"), []string{filepath.Join(dir, "large.bin"), filepath.Join(dir, "notes.txt")}, chromedp.NodeReady))
	b.wait(`document.querySelector("dialog[open] .subject")?.textContent === "notes.txt"`)
	b.shoot("exists")
	b.click(`document.querySelector("dialog [value=both]")`)
	b.wait(row("large.bin") + ` !== null && ` + row("notes (2).txt") + ` !== null`)
	b.file("src/notes (2).txt", "new notes\n")
	b.file("src/notes.txt", "one\ntwo\nthree\n")
	b.file("src/large.bin", string(large))
	if b.cut.Load() != 0 {
		t.Error("no upload was cut off")
	}
	b.shoot("uploaded")
	b.drop("folder/dropped.txt")
	b.wait(row("folder") + ` !== null || ` + row("dropped.txt") + ` !== null`)
}

// testLostAnswers loses the answers to requests that make uploads, which the page sends again. It
// does not ask about its own file then.
func testLostAnswers(t *testing.T, b *browser) {
	b.look(1280, "light", true)
	b.open("/src/")
	b.scripted()
	dir := t.TempDir()
	large := strings.Repeat("0123456789abcdef", 2<<16)
	makeTree(t, dir, map[string]string{"small.txt": "small\n", "large.bin": large, "empty.txt": ""})
	for _, name := range []string{"small.txt", "large.bin", "empty.txt"} {
		b.lose.Store(2)
		b.choose("#files", filepath.Join(dir, name))
		b.wait(row(name) + ` !== null && document.querySelector(".uploads") === null && document.querySelector("dialog") === null`)
	}
	if b.lose.Load() != 0 {
		t.Error("no answer was lost")
	}
	b.file("src/small.txt", "small\n")
	b.file("src/large.bin", large)
}

// drop drops a file of that name onto the page.
func (b *browser) drop(name string) {
	b.t.Helper()
	ask[any](b, fmt.Sprintf(`(() => {
		const d = new DataTransfer();
		d.items.add(new File(["dropped"], %q));
		for (const what of ["dragenter", "drop"]) dispatchEvent(new DragEvent(what, {dataTransfer: d, bubbles: true, cancelable: true}));
	})()`, filepath.Base(name)))
}

// ownRights lets everybody write, but only read src.
func ownRights(t *testing.T) *serve.Rights {
	t.Helper()
	rights, err := serve.ParseRights(strings.NewReader("- write /\n- read /src\n"))
	check(t, err)
	return rights
}

// makeTree writes files below a directory.
func makeTree(t *testing.T, dir string, files map[string]string) {
	t.Helper()
	for name, text := range files {
		full := filepath.Join(dir, name)
		check(t, os.MkdirAll(filepath.Dir(full), 0o755))
		check(t, os.WriteFile(full, []byte(text), 0o644))
	}
}

// choose gives files to a field of the page.
func (b *browser) choose(field string, files ...string) {
	b.t.Helper()
	b.do(chromedp.SetUploadFiles(chromedp.CSS(field), files, chromedp.NodeReady))
}

// dropFiles drops files and folders of the disk onto the page, as a hand does.
func (b *browser) dropFiles(files ...string) {
	b.t.Helper()
	for _, what := range []input.DispatchDragEventType{input.DispatchDragEventTypeDragEnter, input.DispatchDragEventTypeDragOver, input.DispatchDragEventTypeDrop} {
		_, err := chromedp.Call(b.tab, input.DispatchDragEvent, input.DispatchDragEventParams{
			Type: what, X: 300, Y: 300, Data: &input.DragData{Items: []*input.DragDataItem{}, Files: files, DragOperationsMask: 1},
		})
		check(b.t, err)
	}
}

// testFolders sends folders by the chooser and by dropping them, three files at once.
func testFolders(t *testing.T, b *browser) {
	b.look(1280, "light", true)
	b.open("/src/empty/")
	b.scripted()
	dir := t.TempDir()
	files := map[string]string{"album/a.txt": "a", "album/deep/er/b.txt": "b", "album/ü #1 %41.txt": "c"}
	for i := range 20 {
		files[fmt.Sprintf("album/many/%d.bin", i)] = strings.Repeat("x", 2<<20)
	}
	makeTree(t, dir, files)
	check(t, os.MkdirAll(filepath.Join(dir, "album", "nothing", "in it"), 0o755))
	ask[any](b, `window.most = 0; new MutationObserver(() => most = Math.max(most, document.querySelectorAll(".uploads li").length)).observe(document.body, {childList: true, subtree: true})`)
	b.choose("#folder", filepath.Join(dir, "album"))
	b.wait(row("album") + ` !== null && document.querySelector(".uploads") === null`)
	for name, text := range files {
		b.file("src/empty/"+name, text)
	}
	if most := ask[int](b, `most`); most != 3 {
		t.Errorf("%d uploads at once", most)
	}
	check(t, b.vol.RemoveAll("src/empty/album"))
	b.open("/src/empty/")
	b.scripted()
	b.dropFiles(filepath.Join(dir, "album"))
	b.wait(row("album") + ` !== null && document.querySelector(".uploads") === null`)
	for name, text := range files { // the list of uploads is empty for a moment between two folders
		until(t, name+" has come", func() bool {
			info, err := b.vol.Stat("src/empty/" + name)
			return err == nil && info.Size() == int64(len(text))
		})
		b.file("src/empty/"+name, text)
	}
	if info, err := b.vol.Stat("src/empty/album/nothing/in it"); err != nil || !info.IsDir() {
		t.Errorf("an empty folder was not made: %v", err)
	}
}

// testResuming loads a page again while it sends a file, goes on, and gives another file up.
func testResuming(t *testing.T, b *browser) {
	b.look(390, "light", true)
	b.open("/src/")
	b.scripted()
	dir := t.TempDir()
	large := strings.Repeat("0123456789abcdef", 1<<18)
	makeTree(t, dir, map[string]string{"large.bin": large, "other.bin": large + "x"})
	name := filepath.Join(dir, "large.bin")
	begin := func(name string) {
		b.cut.Store(1 << 20)
		b.hold.shut()
		b.choose("#files", name)
		b.wait(`Object.keys(localStorage).some(key => key.startsWith("folio.upload"))`)
	}
	begin(name)
	b.wait(`document.querySelector(".uploads .state").textContent !== ""`)
	b.do(chromedp.Reload())
	b.scripted()
	b.hold.open()
	b.wait(`document.querySelector("#unfinished .notice")?.textContent.includes("large.bin")`)
	b.shoot("unfinished")
	posts := b.count("POST /-/tus/")
	b.click(`document.querySelector("#unfinished [data-go]")`)
	b.choose("#files", filepath.Join(dir, "other.bin"))
	b.wait(`document.querySelector(".toast")?.textContent.includes("another file")`)
	b.click(`document.querySelector("#unfinished [data-go]")`)
	b.choose("#files", name)
	b.wait(row("large.bin") + ` !== null && document.querySelector(".uploads") === null`)
	b.file("src/large.bin", large)
	if n := b.count("POST /-/tus/"); n != posts {
		t.Errorf("the upload began %d times again", n-posts)
	}
	b.wait(`localStorage.length === 0 && document.querySelector("#unfinished .notice") === null`)

	const kept = 1 // the server knows for some days that the first one is complete
	begin(filepath.Join(dir, "other.bin"))
	b.do(chromedp.Reload())
	b.scripted()
	b.hold.open()
	b.click(`document.querySelector("#unfinished [data-forget]")`)
	b.wait(`localStorage.length === 0`)
	b.wantUploads(kept)

	b.hold.shut()
	b.choose("#files", filepath.Join(dir, "other.bin"))
	b.wait(`document.querySelector(".uploads .icon") !== null`)
	b.shoot("uploading")
	b.click(`document.querySelector(".uploads .icon")`)
	b.hold.open()
	b.wait(`document.querySelector(".uploads") === null && localStorage.length === 0`)
	b.file("src/other.bin", "")
	b.wantUploads(kept)
}

// wantUploads waits until the server keeps a number of uploads.
func (b *browser) wantUploads(want int) {
	b.t.Helper()
	n := -1
	for range 100 {
		list, err := b.vol.ReadDir(".folio-serve/uploads")
		check(b.t, err)
		if n = len(list); n == want {
			return
		}
		ask[any](b, `new Promise(ok => setTimeout(ok, 50))`)
	}
	b.t.Errorf("the server keeps %d uploads, want %d", n, want)
}

// testLimits wants plain words when a file is too large, when the volume is full, and where the
// reader has no right.
func testLimits(t *testing.T, b *browser) {
	b.look(390, "dark", true)
	b.open("/")
	b.scripted()
	dir := t.TempDir()
	makeTree(t, dir, map[string]string{"huge.bin": strings.Repeat("x", 9<<20), "full.bin": strings.Repeat("x", 6<<20), "src/new.txt": "new", "fine.txt": "fine"})
	b.dropFiles(filepath.Join(dir, "huge.bin"), filepath.Join(dir, "full.bin"), filepath.Join(dir, "src"), filepath.Join(dir, "fine.txt"))
	b.wait(row("fine.txt") + ` !== null`)
	for _, want := range []string{"huge.binThis is larger than this server takes, which is 8.4 MB at most.", "full.binThe volume is full.", "src/new.txtYou have no right to do this."} {
		b.wait(fmt.Sprintf(`[...document.querySelectorAll(".uploads .failed .name")].some(e => e.textContent === %q)`, want))
	}
	b.shoot("refused")
	b.file("fine.txt", "fine")
	b.file("full.bin", "")
}
