package serve_test

import (
	"archive/zip"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	cdpbrowser "github.com/chromedp/cdproto/browser"
	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/cdproto/target"
	"github.com/chromedp/chromedp"
)

// Modifiers of keys.
const (
	ctrl  = 2
	shift = 8
)

// chord presses a key together with modifiers.
func (b *browser) chord(modifiers int64, key string, code int64) {
	b.t.Helper()
	for _, what := range []input.DispatchKeyEventType{input.DispatchKeyEventTypeRawKeyDown, input.DispatchKeyEventTypeKeyUp} {
		_, err := chromedp.Call(b.tab, input.DispatchKeyEvent, input.DispatchKeyEventParams{Type: what, Modifiers: modifiers, Key: key, WindowsVirtualKeyCode: code})
		check(b.t, err)
	}
}

// pick is a script for the checkbox of a name.
func pick(name string) string { return row(name) + `.querySelector(".pick input")` }

// selected wants that many rows to be selected.
func (b *browser) selected(n int) {
	b.t.Helper()
	b.wait(fmt.Sprintf(`document.querySelectorAll("#list .pick input[name]:checked").length === %d && document.querySelector(".several").classList.contains("on") === %t`, n, n > 0))
}

// buttons wants these, and no others, below what is selected, and nothing that is not laid out.
func (b *browser) buttons(want string) {
	b.t.Helper()
	const script = `[...document.querySelectorAll(".several button")].filter(e => e.checkVisibility()).map(e => e.textContent.trim()).join(" ")`
	if have := ask[string](b, script); have != want {
		b.t.Errorf("buttons: %s, want %s", have, want)
	}
	if text := ask[string](b, `document.querySelector(".several").innerText`); strings.Contains(text, "<") {
		b.t.Errorf("tags in the text: %s", text)
	}
}

// testSelecting selects by mouse and by keys, and removes, moves and takes away several at once.
func testSelecting(t *testing.T, b *browser) {
	for i := range 9 {
		check(t, b.vol.WriteFile(fmt.Sprintf("src/%d.txt", i), fmt.Appendf(nil, "%d", i), 0o644))
	}
	b.look(1280, "light", true)
	b.open("/src/")
	b.scripted()
	b.click(pick("2.txt"))
	ask[any](b, pick("5.txt")+`.dispatchEvent(new MouseEvent("click", {shiftKey: true, bubbles: true, cancelable: true}))`)
	b.selected(4)
	b.buttons("Download Move Remove Clear")
	b.shoot("selected")
	b.press(escape)
	b.selected(0)
	ask[any](b, row("3.txt")+`.querySelector("td.name a").focus()`)
	b.press(" ")
	b.selected(1)
	b.chord(shift, "ArrowDown", 40)
	b.chord(shift, "ArrowDown", 40)
	b.selected(3)
	b.chord(shift, "ArrowUp", 38)
	b.selected(2)
	b.chord(ctrl, "a", 'A')
	b.selected(12)
	b.press(escape)
	ask[any](b, `q.value = ".txt"; q.dispatchEvent(new Event("input"))`)
	b.chord(ctrl, "a", 'A')
	b.selected(10)
	b.click(pick("notes.txt"))
	b.selected(9)
	b.press("\u007f")
	b.wait(row("3.txt") + ` === null`)
	b.file("src/3.txt", "")
	b.shoot("removed")
	b.undo()
	b.wait(row("3.txt") + ` !== null`)
	b.file("src/3.txt", "3")
	b.selected(0)

	b.click(pick("1.txt"))
	b.click(pick("2.txt"))
	b.buttons("Download Move Remove Clear")
	b.chord(0, "m", 'M')
	b.wait(`document.querySelector("dialog .folders button .up") !== null`)
	b.shoot("folders")
	b.press(arrowDown)
	b.press(arrowDown)
	b.wait(`document.activeElement.textContent === "empty"`)
	b.press("\r")
	b.wait(`document.querySelector("dialog input").value === "/src/empty" && document.querySelector("dialog .folders p") !== null`)
	b.click(`document.querySelector("dialog .primary")`)
	b.wait(row("1.txt") + ` === null`)
	b.file("src/empty/2.txt", "2")
	check(t, b.vol.WriteFile("src/2.txt", []byte("other"), 0o644))
	b.undo()
	b.wait(`[...document.querySelectorAll(".toast")].some(e => e.textContent.includes("2.txt"))`)
	b.file("src/empty/1.txt", "1")

	b.open("/src/")
	b.scripted()
	dir := t.TempDir()
	here, err := chromedp.Call(b.tab, target.GetTargetInfo, target.GetTargetInfoParams{})
	check(t, err)
	_, err = chromedp.CallBrowser(b.tab, cdpbrowser.SetDownloadBehavior, cdpbrowser.SetDownloadBehaviorParams{
		Behavior: "allow", DownloadPath: dir, BrowserContextID: here.TargetInfo.BrowserContextID,
	})
	check(t, err)
	b.click(pick("empty"))
	b.click(pick("4.txt"))
	b.press("d")
	b.wantZip(filepath.Join(dir, "src.zip"), 4)
	b.quiet()
}

// wantZip waits for a zip of that many files.
func (b *browser) wantZip(name string, want int) {
	b.t.Helper()
	for range 100 {
		if z, err := zip.OpenReader(name); err == nil {
			defer z.Close()
			if len(z.File) != want {
				b.t.Errorf("%d files in %s, want %d", len(z.File), name, want)
			}
			return
		}
		ask[any](b, `new Promise(ok => setTimeout(ok, 50))`)
	}
	list, _ := os.ReadDir(filepath.Dir(name))
	b.t.Errorf("no zip: %v", list)
}

// testForms does so without scripts.
func testForms(t *testing.T, b *browser) {
	b.look(390, "dark", false)
	b.open("/src/")
	b.click(pick("notes.txt"))
	b.click(pick("main.go"))
	b.buttons("Download Move Remove")
	b.shoot("form")
	b.click(`document.querySelector(".several button[value=remove]")`)
	b.wait(row("notes.txt") + ` === null && location.search.startsWith("?removed=") && document.querySelector("form.notice button") !== null`)
	b.file("src/notes.txt", "")
	b.shoot("form-removed")
	b.click(`document.querySelector("form.notice button")`)
	b.wait(row("notes.txt") + ` !== null && location.search === ""`)
	b.file("src/notes.txt", "one\ntwo\nthree\n")
	b.click(pick("notes.txt"))
	ask[any](b, `document.querySelector(".several input[name=to]").value = "/src/empty"`)
	b.click(`document.querySelector(".several button[formaction$=move]")`)
	b.wait(row("notes.txt") + ` === null`)
	b.file("src/empty/notes.txt", "one\ntwo\nthree\n")
}
