package serve_test

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"net"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"

	"github.com/foliofs/folio"
	"github.com/foliofs/folio/serve"
)

var (
	screenshots = flag.String("screenshots", "", "directory for pictures of the pages in the browser")
	allPages    = flag.Bool("browser.all", false, "look at each page on each screen, and hold each to axe-core twice")
)

// browserTime is how long one part of the test may take.
const browserTime = 2 * time.Minute

// waitTime is how long a page may take for what the test waits for.
const waitTime = 20 * time.Second

// A browser is a tab of Chromium at a server of its own.
type browser struct {
	t      *testing.T
	tab    context.Context
	server *httptest.Server
	vol    *folio.Volume
	cut    atomic.Int64 // if it is not 0, the next PATCH breaks off after as many bytes
	hold   gate

	mu    sync.Mutex // guards the fields below
	said  []string   // errors of pages, and requests of other hosts
	asked []string   // methods and paths of requests
}

// A gate lets nothing through while it is shut. It is open at first.
type gate struct{ way atomic.Pointer[chan struct{}] }

func (g *gate) shut() {
	way := make(chan struct{})
	g.way.Store(&way)
}

func (g *gate) open() { close(*g.way.Swap(nil)) }

func (g *gate) pass() {
	if way := g.way.Load(); way != nil {
		<-*way
	}
}

// TestBrowser goes through the pages in Chromium. Without it the test is skipped.
func TestBrowser(t *testing.T) {
	path, err := exec.LookPath("chromium")
	if err != nil {
		t.Skip("pages in a browser: no chromium")
	}
	options := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.ExecPath(path), chromedp.NoSandbox, chromedp.DisableGPU)
	process, kill := chromedp.NewExecAllocator(context.Background(), options...)
	defer kill()
	first, _ := chromedp.NewContext(process)
	check(t, chromedp.Do(first))
	for _, part := range []struct {
		name    string
		test    func(*testing.T, *browser)
		options serve.Options
		volume  folio.Options
	}{
		{name: "screens", test: testScreens},
		{name: "axe", test: testAxe},
		{name: "keys", test: testKeys},
		{name: "changes", test: testChanges},
		{name: "uploads", test: testUploads},
		{name: "folders", test: testFolders},
		{name: "resuming", test: testResuming},
		{name: "limits", test: testLimits, options: serve.Options{MaxBody: 8 << 20, Rights: ownRights(t)}, volume: folio.Options{MaxSize: 4 << 20}},
		{name: "selecting", test: testSelecting},
		{name: "forms", test: testForms},
		{name: "shares", test: testShares},
		{name: "restore", test: testRestore},
	} {
		t.Run(part.name, func(t *testing.T) {
			b := newBrowser(t, first, part.options, part.volume)
			part.test(t, b)
			b.quiet()
		})
	}
}

// newBrowser opens a tab at a server of its own.
func newBrowser(t *testing.T, first context.Context, o serve.Options, volume folio.Options) *browser {
	t.Helper()
	b := &browser{t: t, vol: siteVolume(t, &volume)}
	o.Sources, o.Write, o.Trash = []serve.Source{sourceOf(b.vol, "site", "")}, true, time.Hour
	h, err := serve.New(&o)
	check(t, err)
	b.server = httptest.NewUnstartedServer(h)
	b.server.Listener = cutListener{b.server.Listener, b}
	b.server.Start()
	tab, end := chromedp.NewContext(first, chromedp.WithNewBrowserContext())
	limited, done := context.WithTimeout(tab, browserTime)
	b.tab = limited
	t.Cleanup(func() {
		done()
		end()
		b.server.CloseClientConnections()
		b.server.Close()
		check(t, h.Close())
	})
	b.do()
	check(t, chromedp.Listen(b.tab, b.listen))
	return b
}

// A cutListener breaks a connection off after some bytes of a PATCH, if the test asks for it. It
// lets the bytes of a PATCH wait at the gate.
type cutListener struct {
	net.Listener
	b *browser
}

func (l cutListener) Accept() (net.Conn, error) {
	conn, err := l.Listener.Accept()
	return &cutConn{Conn: conn, b: l.b}, err
}

type cutConn struct {
	net.Conn
	b     *browser
	patch bool
	left  int64 // bytes until it breaks off, or 0
}

func (c *cutConn) Read(p []byte) (int, error) {
	if c.patch {
		c.b.hold.pass()
	}
	n, err := c.Conn.Read(p)
	if bytes.Contains(p[:max(n, 0)], []byte("ATCH /-/tus/")) { // the first byte may come by itself
		c.patch, c.left = true, c.b.cut.Swap(0)
	}
	if c.left > 0 {
		if c.left -= int64(n); c.left <= 0 {
			return 0, errors.Join(c.Close(), io.ErrUnexpectedEOF)
		}
	}
	return n, err
}

// siteVolume returns a volume with a file of each kind, and with a snapshot before its last change.
func siteVolume(t *testing.T, o *folio.Options) *folio.Volume {
	t.Helper()
	vol, err := folio.OpenMemory(o)
	check(t, err)
	t.Cleanup(func() { _ = vol.Close() })
	check(t, vol.MkdirAll("src/empty", 0o755))
	long := strings.Repeat("A sentence about folders, files and what they hold. ", 30)
	for name, text := range map[string]string{
		"README.md": "# Read me\n\n" + long + "\n\n| | size |\n|---|---|\n| a | 1 |\n\n```go\nfunc main() {}\n```\n\n- [the source](src/main.go)\n",
		"a rather long name of a file that does not end before the line of a phone ends.txt": long,
		"src/main.go":   "package main\n\n// main does nothing.\nfunc main() {\n\tprintln(\"hello\", 1)\n}\n",
		"src/notes.txt": "one\ntwo\nthree\n", "picture.svg": `<svg xmlns="http://www.w3.org/2000/svg" width="90" height="60"><circle cx="30" cy="30" r="20"/></svg>`,
		"data.bin": "\x00\x01\x02", "more.zip": "PK", "evil\u202etxt.exe": "x", `<img src=x onerror=alert(1)>.txt`: "<script>alert(1)</script>\n",
	} {
		check(t, vol.WriteFile(name, []byte(text), 0o644))
	}
	check(t, vol.Snapshot(t.Context(), "monday"))
	check(t, vol.WriteFile("src/main.go", []byte("package main\n\nfunc main() {\n\tprintln(\"hello\", 2)\n}\n"), 0o644))
	return vol
}

// listen notes what a page must not do.
func (b *browser) listen(ev any) {
	var what string
	switch ev := ev.(type) {
	case *runtime.EventExceptionThrown:
		what = ev.ExceptionDetails.Text
		if ev.ExceptionDetails.Exception != nil {
			what += " " + ev.ExceptionDetails.Exception.Description
		}
	case *log.EventEntryAdded:
		what = ev.Entry.Text + " " + ev.Entry.URL
		for _, fine := range []string{"the server responded with a status of", "/favicon.ico", "'beforeunload'", "with a user activation"} {
			if strings.Contains(what, fine) {
				return // the page says so itself; a text that is open by itself has no picture; the test has no hands
			}
		}
	case *network.EventRequestWillBeSent:
		b.note(ev.Request.Method + " " + strings.TrimPrefix(ev.Request.URL, b.server.URL))
		if u := ev.Request.URL; strings.HasPrefix(u, b.server.URL+"/") || strings.HasPrefix(u, "blob:") || strings.HasPrefix(u, "chrome") {
			return
		}
		what = "request of " + ev.Request.URL
	default:
		return
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.said = append(b.said, what)
}

// note keeps what was asked for.
func (b *browser) note(request string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.asked = append(b.asked, request)
}

// count returns how many requests began with a text.
func (b *browser) count(prefix string) (n int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, request := range b.asked {
		if strings.HasPrefix(request, prefix) {
			n++
		}
	}
	return n
}

// do runs steps, and ends the test if one fails.
func (b *browser) do(steps ...chromedp.Action[chromedp.Void]) {
	b.t.Helper()
	if err := chromedp.Do(b.tab, steps...); err != nil {
		b.t.Fatal(err)
	}
}

// open loads a page.
func (b *browser) open(path string) {
	b.t.Helper()
	b.do(chromedp.Navigate(b.server.URL + path))
}

// ask evaluates a script in the page.
func ask[T any](b *browser, script string) T {
	b.t.Helper()
	v, err := chromedp.Run(b.tab, chromedp.Evaluate[T](script, chromedp.EvalAwaitPromise))
	if err != nil {
		b.t.Fatalf("%s: %v", script, err)
	}
	return v
}

// wait waits until a script is true, also over the loading of another page. It asks again and
// again, as pages without scripts have no timers.
func (b *browser) wait(script string) {
	b.t.Helper()
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for end := time.Now().Add(waitTime); time.Now().Before(end); <-tick.C {
		const look = `(() => { try { return Boolean(%s) } catch { return false } })()`
		ok, err := chromedp.Run(b.tab, chromedp.Evaluate[bool](fmt.Sprintf(look, script)))
		if ok {
			return
		}
		if b.tab.Err() != nil {
			b.t.Fatalf("%s: %v", script, err)
		}
	}
	b.shoot("failed")
	b.t.Fatalf("never true: %s\n%s", script, ask[string](b, `document.body.innerText.slice(0, 2000)`))
}

// look sets the screen.
func (b *browser) look(width int64, scheme string, scripts bool) {
	b.t.Helper()
	media := emulation.SetEmulatedMediaParams{Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: scheme}}}
	_, err := chromedp.Call(b.tab, emulation.SetEmulatedMedia, media)
	check(b.t, err)
	_, err = chromedp.Call(b.tab, emulation.SetScriptExecutionDisabled, emulation.SetScriptExecutionDisabledParams{Value: !scripts})
	check(b.t, err)
	b.do(chromedp.EmulateViewport(width, 800))
}

// shoot takes a picture, if -screenshots asks for it.
func (b *browser) shoot(name string) {
	b.t.Helper()
	if *screenshots == "" {
		return
	}
	png, err := chromedp.Run(b.tab, chromedp.CaptureScreenshot())
	check(b.t, err)
	check(b.t, os.WriteFile(filepath.Join(*screenshots, name+".png"), png, 0o666))
}

// quiet wants that no page has done what it must not do.
func (b *browser) quiet() {
	b.t.Helper()
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, what := range b.said {
		b.t.Error(what)
	}
	b.said = nil
}

// sitePages are pages of siteVolume, each with an element that it must have.
var sitePages = []struct{ name, path, has string }{
	{"root", "/", "#list .i.dir"},
	{"sorted", "/?sort=size&desc=1", "th[aria-sort=descending]"},
	{"empty", "/src/empty/", ".empty"},
	{"code", "/src/main.go?view", ".lines .hk"},
	{"line", "/src/main.go?view#L2", ".line:target"},
	{"markdown", "/README.md?view", ".prose h1"},
	{"source", "/README.md?view=text", ".lines .line"},
	{"image", "/picture.svg?view", ".show img"},
	{"binary", "/data.bin?view", ".empty"},
	{"evil", "/%3Cimg%20src=x%20onerror=alert(1)%3E.txt?view", ".lines .line"},
	{"names", "/-/search?q=main&path=", ".hits a mark"},
	{"contents", "/-/search?q=hello&content=1&path=", ".hits .in mark"},
	{"past", "/-/at/monday/src/", ".notice.past"},
	{"versions", "/src/main.go?versions", ".versions form"},
	{"changes", "/src/main.go?diff=monday", ".diff .add"},
	{"nothing", "/nothing", ".empty h1"},
}

// testScreens looks at pages on phones and on a desk, light and dark, with and without scripts:
// nothing runs over the edge, no page loads from elsewhere or breaks its policy. Without
// -browser.all it looks at each page on two of six screens.
func testScreens(t *testing.T, b *browser) {
	backgrounds := make(map[string]string)
	for i, v := range []struct {
		width   int64
		scheme  string
		scripts bool
	}{{360, "light", true}, {360, "dark", false}, {390, "dark", true}, {1280, "light", false}, {1280, "light", true}, {1280, "dark", true}} {
		b.look(v.width, v.scheme, v.scripts)
		for j, p := range sitePages {
			if !*allPages && (i+j)%3 != 0 {
				continue
			}
			b.open(p.path)
			name := fmt.Sprintf("%s-%d-%s-%t", p.name, v.width, v.scheme, v.scripts)
			if !ask[bool](b, fmt.Sprintf(`document.querySelector(%q) !== null`, p.has)) {
				t.Errorf("%s: no %s", name, p.has)
			}
			if wide := ask[int64](b, `document.documentElement.scrollWidth`); wide > v.width {
				t.Errorf("%s is %d wide", name, wide)
			}
			if ask[bool](b, `document.documentElement.classList.contains("scripted")`) != v.scripts {
				t.Errorf("%s: scripts run: %t", name, !v.scripts)
			}
			if list := ask[string](b, small); list != "" && v.width < 400 {
				t.Errorf("%s: small targets:\n%s", name, list)
			}
			backgrounds[v.scheme] = ask[string](b, `getComputedStyle(document.body).backgroundColor`)
			b.shoot(name)
		}
	}
	if backgrounds["light"] == backgrounds["dark"] {
		t.Errorf("light and dark are both %s", backgrounds["light"])
	}
}

// small is a script that returns what a finger would miss.
const small = `[...document.querySelectorAll("button, summary, .button, .icon, input, .crumbs a, td.name a")].filter(e => {
	const r = e.getBoundingClientRect();
	if (r.width === 0 || e.closest(".search .inside") || e.closest(".lines")) return false;
	return (e.closest("td.name") ? e.closest("tr").getBoundingClientRect().height : r.height) < 43.5;
}).map(e => e.outerHTML.slice(0, 100)).join("\n")`

// testAxe wants no violation of the rules of axe-core, which npm fetches.
func testAxe(t *testing.T, b *browser) {
	axe := axeSource(t)
	for i, scheme := range []string{"light", "dark"} {
		b.look(map[string]int64{"light": 1280, "dark": 360}[scheme], scheme, true)
		for j, p := range sitePages {
			if !*allPages && (i+j)%2 != 0 {
				continue
			}
			b.open(p.path)
			b.axe(axe, p.name+", "+scheme)
		}
		for j, d := range siteDialogs {
			if !*allPages && (i+j)%2 != 0 {
				continue
			}
			b.open("/src/")
			b.scripted()
			ask[any](b, d.open)
			b.wait(fmt.Sprintf(`document.querySelector(%q) !== null && document.getAnimations().length === 0`, d.has))
			b.axe(axe, d.name+", "+scheme)
			b.shoot("dialog-" + d.name + "-" + scheme)
		}
	}
}

// siteDialogs are what scripts show on the page of a directory: how to get there, and what is there
// then.
var siteDialogs = []struct{ name, open, has string }{
	{"selected", `all.click()`, ".several.on"},
	{"move", `all.click(); document.querySelector(".several [value=move].js").click()`, "dialog[open] .folders .up"},
	{"mkdir", `document.querySelector("[data-do=mkdir]").click()`, "dialog[open] input"},
	{"share", `document.querySelector("[data-do=share]").click()`, "dialog[open] select"},
	{"menu", row("main.go") + `.querySelector("[data-do=menu]").click()`, ".menu"},
	{"help", `document.body.dispatchEvent(new KeyboardEvent("keydown", {key: "?", bubbles: true}))`, "dialog[open] .keys"},
}

// axe wants no violation on the page that is open.
func (b *browser) axe(source, name string) {
	b.t.Helper()
	ask[any](b, source+"\n;0")
	const run = `axe.run(document, {iframes: false}).then(r => JSON.stringify(r.violations.map(v => [v.id, v.nodes[0].html.slice(0, 150)])))`
	if found := ask[string](b, run); found != "[]" {
		b.t.Errorf("%s: %s", name, found)
	}
}

// axeSource returns the script of axe-core. Without npm, or out of reach of its registry, the test
// is skipped.
func axeSource(t *testing.T) string {
	t.Helper()
	if _, err := exec.LookPath("chromium"); err != nil {
		t.Skip("axe-core: no chromium")
	}
	npm, err := exec.LookPath("npm")
	if err != nil {
		t.Skip("axe-core: no npm")
	}
	dir := t.TempDir()
	out, err := exec.CommandContext(t.Context(), npm, "install", "--prefix", dir, "--no-audit", "--no-fund", "--ignore-scripts", "axe-core@4.14.1").CombinedOutput()
	if err != nil {
		t.Skipf("axe-core: npm cannot fetch it: %v: %.200s", err, out)
	}
	text, err := os.ReadFile(filepath.Join(dir, "node_modules", "axe-core", "axe.min.js"))
	check(t, err)
	return string(text)
}

// row is a script for the row of a name.
func row(name string) string {
	return fmt.Sprintf(`document.querySelector("tr[data-name='%s']")`, name)
}

// press presses a key, and click clicks what a script finds.
func (b *browser) press(keys string) { b.t.Helper(); b.do(chromedp.KeyEvent(keys)) }

func (b *browser) click(script string) { b.t.Helper(); ask[any](b, script+".click()") }

// fill writes into the field of the open dialog and presses Enter.
func (b *browser) fill(text string) {
	b.t.Helper()
	b.wait(`document.querySelector("dialog[open] input") === document.activeElement`)
	ask[any](b, fmt.Sprintf(`document.querySelector("dialog[open] input").value = %q`, text))
	b.press("\r")
}

// undo clicks the button of the newest message that takes something back.
func (b *browser) undo() {
	b.t.Helper()
	b.wait(`[...document.querySelectorAll(".toast button")].some(e => e.textContent === "Undo")`)
	b.click(`[...document.querySelectorAll(".toast button")].filter(e => e.textContent === "Undo").at(-1)`)
}

// testKeys goes through a directory by the keyboard.
func testKeys(t *testing.T, b *browser) {
	b.look(1280, "light", true)
	b.open("/src/")
	b.wait(`document.documentElement.classList.contains("scripted")`)
	b.press("/")
	b.wait(`document.activeElement.id === "q"`)
	ask[any](b, `document.activeElement.value = ""`) // chromedp sends the key to the field, too
	b.press("mai")
	b.wait(row("notes.txt") + ".hidden && !" + row("main.go") + ".hidden")
	b.press(arrowDown)
	b.wait(`document.activeElement.closest("tr") === ` + row("main.go"))
	b.press("\r")
	b.wait(`location.href.endsWith("/src/main.go?view") && document.documentElement.classList.contains("scripted")`)
	b.press("?")
	b.wait(`document.querySelector("dialog[open] .keys") !== null`)
	b.shoot("help")
	b.press(escape)
	b.wait(`document.querySelector("dialog") === null`)
	b.press("\b")
	b.wait(`location.pathname === "/src/"`)
}

// Keys as chromedp names them.
const (
	arrowDown = "\u0301"
	escape    = "\u001b"
)

// testChanges makes, renames, moves and removes files, and takes it back.
func testChanges(t *testing.T, b *browser) {
	b.look(1280, "light", true)
	b.open("/src/")
	b.wait(`document.documentElement.classList.contains("scripted")`)
	b.click(`document.querySelector("[data-do=mkdir]")`)
	b.fill("a/b")
	b.wait(`document.querySelector("dialog .problem").textContent.includes("slash")`)
	b.fill("new #1 & 100%")
	b.wait(row("new #1 & 100%") + ` !== null`)
	b.click(row("notes.txt") + `.querySelector("[data-do=menu]")`)
	b.wait(`document.querySelector(".menu") !== null`)
	b.shoot("menu")
	b.click(`[...document.querySelectorAll(".menu button")].find(e => e.textContent === "Rename")`)
	b.fill("new #1 & 100%")
	b.wait(`document.querySelector("dialog .problem").textContent !== ""`)
	b.shoot("taken")
	b.fill("renamed ü.txt")
	b.wait(row("renamed ü.txt") + ` !== null && document.querySelector("dialog") === null`)
	b.file("src/renamed ü.txt", "one\ntwo\nthree\n")
	b.shoot("renamed")
	b.undo()
	b.wait(row("notes.txt") + ` !== null`)
	b.file("src/notes.txt", "one\ntwo\nthree\n")
	b.click(row("notes.txt") + `.querySelector("[data-do=menu]")`)
	b.click(`[...document.querySelectorAll(".menu button")].find(e => e.textContent === "Move")`)
	b.fill("/src/new #1 & 100%")
	b.wait(row("notes.txt") + ` === null`)
	b.file("src/new #1 & 100%/notes.txt", "one\ntwo\nthree\n")
	b.undo()
	b.wait(row("notes.txt") + ` !== null`)
	b.click(row("notes.txt") + `.querySelector("[data-do=menu]")`)
	b.click(`document.querySelector(".menu .danger")`)
	b.wait(row("notes.txt") + ` === null`)
	b.file("src/notes.txt", "")
	b.undo()
	b.wait(row("notes.txt") + ` !== null`)
	b.file("src/notes.txt", "one\ntwo\nthree\n")
}

// scripted waits until the scripts of a page run.
func (b *browser) scripted() {
	b.t.Helper()
	b.wait(`document.readyState === "complete" && document.documentElement.classList.contains("scripted")`)
}

// file wants a file of that content in the volume, or none if that is "".
func (b *browser) file(name, want string) {
	b.t.Helper()
	text, err := b.vol.ReadFile(name)
	if want == "" && !errors.Is(err, os.ErrNotExist) || want != "" && string(text) != want {
		b.t.Fatalf("%s: %d bytes, %v", name, len(text), err)
	}
}

// testShares makes a link, and follows it after the file was renamed.
func testShares(t *testing.T, b *browser) {
	b.look(390, "dark", true)
	b.open("/src/notes.txt?view")
	b.wait(`document.documentElement.classList.contains("scripted")`)
	b.click(`document.querySelector("[data-do=share]")`)
	b.click(`document.querySelector("dialog .primary")`)
	b.wait(`document.querySelector("dialog [name=url]").value !== ""`)
	b.shoot("shared")
	link := ask[string](b, `document.querySelector("dialog [name=url]").value`)
	check(t, b.vol.Rename("src/notes.txt", "src/other.txt"))
	b.do(chromedp.Navigate(link))
	b.wait(`document.body.innerText.includes("three")`)
	b.shoot("share")
	b.open("/src/")
	b.wait(`document.documentElement.classList.contains("scripted")`)
	b.click(`document.querySelector("[data-do=share]")`)
	b.click(`document.querySelector("dialog [value=upload]")`)
	b.click(`document.querySelector("dialog .primary")`)
	b.wait(`document.querySelector("dialog [name=url]").value !== ""`)
	link = ask[string](b, `document.querySelector("dialog [name=url]").value`)
	b.do(chromedp.Navigate(link))
	b.wait(`document.querySelector(".dropzone") !== null && document.documentElement.classList.contains("scripted")`)
	b.shoot("drop")
	if ask[bool](b, `document.body.innerText.includes("main.go")`) {
		t.Error("a link for uploads shows files")
	}
	b.drop("sent.txt")
	b.wait(`document.querySelector(".toast")?.textContent.includes("uploaded")`)
	b.file("src/sent.txt", "dropped")
}

// testRestore goes back to an earlier version.
func testRestore(t *testing.T, b *browser) {
	b.look(1280, "light", true)
	b.open("/src/main.go?versions")
	ask[any](b, `window.confirm = () => true`)
	b.click(`document.querySelector(".versions form button")`)
	b.wait(`!location.search.includes("versions") && document.readyState === "complete"`)
	text, err := b.vol.ReadFile("src/main.go")
	if err != nil || !strings.Contains(string(text), "main does nothing") {
		t.Errorf("%q, %v", text, err)
	}
}
