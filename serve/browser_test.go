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
	"slices"
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
	allPages    = flag.Bool("browser.all", false, "look at each scene on each screen, and hold each with scripts to axe-core")
)

// browserTime is how long one part of the test may take, and allTime the one that looks at all.
const (
	browserTime = 2 * time.Minute
	allTime     = time.Hour
)

// waitTime is how long a page may take for what the test waits for.
const waitTime = 20 * time.Second

// A browser is a tab of Chromium at a server of its own.
type browser struct {
	t      *testing.T
	tab    context.Context
	server *httptest.Server
	vol    *folio.Volume
	cut    atomic.Int64 // if it is not 0, the next PATCH breaks off after as many bytes
	lose   atomic.Int64 // as many answers to requests that make uploads are lost
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
	options := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.ExecPath(path), chromedp.NoSandbox, chromedp.DisableGPU, chromedp.Flag("blink-settings", mouse))
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
		{name: "screens", test: testScreens, options: serve.Options{MaxBody: 8 << 20}},
		{name: "media", test: testMedia},
		{name: "hostile", test: testHostile},
		{name: "names", test: testNames},
		{name: "keys", test: testKeys},
		{name: "changes", test: testChanges},
		{name: "uploads", test: testUploads},
		{name: "lost", test: testLostAnswers},
		{name: "folders", test: testFolders},
		{name: "resuming", test: testResuming},
		{name: "limits", test: testLimits, options: serve.Options{MaxBody: 8 << 20, Rights: ownRights(t)}, volume: folio.Options{MaxSize: 4 << 20}},
		{name: "selecting", test: testSelecting},
		{name: "forms", test: testForms},
		{name: "shares", test: testShares},
		{name: "restore", test: testRestore},
		{name: "trash", test: testTrash},
		{name: "forever", test: testForever, options: serve.Options{Trash: -1}},
		{name: "links", test: testLinkList},
		{name: "filter", test: testFilter},
		{name: "view", test: testView},
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
	o.Sources, o.Write = []serve.Source{sourceOf(b.vol, "site", "")}, true
	if o.Trash == 0 {
		o.Trash = time.Hour
	}
	h, err := serve.New(&o)
	check(t, err)
	b.server = httptest.NewUnstartedServer(h)
	b.server.Listener = cutListener{b.server.Listener, b}
	b.server.Start()
	tab, end := chromedp.NewContext(first, chromedp.WithNewBrowserContext())
	most := browserTime
	if *allPages {
		most = allTime
	}
	limited, done := context.WithTimeout(tab, most)
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
	lost  bool  // the answer is lost
}

// Write breaks the connection off if the answer is to be lost.
func (c *cutConn) Write(p []byte) (int, error) {
	if c.lost {
		return 0, errors.Join(c.Close(), io.ErrClosedPipe)
	}
	return c.Conn.Write(p)
}

func (c *cutConn) Read(p []byte) (int, error) {
	if c.patch {
		c.b.hold.pass()
	}
	n, err := c.Conn.Read(p)
	if bytes.Contains(p[:max(n, 0)], []byte("ATCH /-/tus/")) { // the first byte may come by itself
		c.patch, c.left = true, c.b.cut.Swap(0)
	}
	if bytes.Contains(p[:max(n, 0)], []byte("OST /-/tus/")) && c.b.lose.Load() > 0 {
		c.b.lose.Add(-1)
		c.lost = true
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
	check(t, vol.CreateSnapshot(t.Context(), "monday"))
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
	case *network.EventResponseReceived:
		contentRange, _ := ev.Response.Headers["Content-Range"].(string)
		b.note(fmt.Sprintf("%d %s %s", ev.Response.Status, strings.TrimPrefix(ev.Response.URL, b.server.URL), contentRange))
		return
	case *network.EventRequestWillBeSent:
		b.note(ev.Request.Method + " " + strings.TrimPrefix(ev.Request.URL, b.server.URL))
		if slices.ContainsFunc([]string{b.server.URL + "/", "blob:", "chrome", "data:"}, func(p string) bool { return strings.HasPrefix(ev.Request.URL, p) }) {
			return // Chromium loads the buttons of its own player from data URLs
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

// mouse are settings for Chromium by which a desk has a mouse, which hovers.
const mouse = "primaryHoverType=2,availableHoverTypes=2,primaryPointerType=4,availablePointerTypes=4"

// look sets the screen: a phone, which has fingers, or a desk.
func (b *browser) look(width int64, scheme string, scripts bool) {
	b.t.Helper()
	media := emulation.SetEmulatedMediaParams{Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: scheme}}}
	_, err := chromedp.Call(b.tab, emulation.SetEmulatedMedia, media)
	check(b.t, err)
	_, err = chromedp.Call(b.tab, emulation.SetScriptExecutionDisabled, emulation.SetScriptExecutionDisabledParams{Value: !scripts})
	check(b.t, err)
	if width < 500 {
		b.do(chromedp.EmulateViewport(width, 800, chromedp.EmulateMobile, chromedp.EmulateTouch))
		return
	}
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

// axe wants no violation on the page that is open, also none of the rule of WCAG 2.2 that it has
// off. What an open menu or a message covers is no target meanwhile.
func (b *browser) axe(source, name string) {
	b.t.Helper()
	ask[any](b, source+"\n;0")
	const run = `axe.run(document, {iframes: false, rules: {"target-size": {enabled: !document.querySelector(".drop[open], .menu, .toast, dialog")}}}).then(r => JSON.stringify(r.violations.map(v => [v.id, v.nodes[0].html.slice(0, 150)])))`
	if found := ask[string](b, run); found != "[]" {
		b.t.Errorf("%s: %s", name, found)
	}
}

// axeSource returns the script of axe-core, or "" where there is no npm, or where its registry is
// out of reach.
func axeSource(t *testing.T) (source string) {
	t.Helper()
	t.Run("axe", func(t *testing.T) {
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
		source = string(text)
	})
	return source
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
