package report

import (
	"context"
	"flag"
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"

	"github.com/foliofs/folio/lab/result"
)

var screenshots = flag.String("screenshots", "", "directory for what the browser test sees, to be looked at")

// browser starts chromium; the test is skipped by name where there is none.
func browser(t *testing.T) context.Context {
	t.Helper()
	path, err := exec.LookPath("chromium")
	if err != nil {
		t.Skip("the page in a browser: no chromium")
	}
	options := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.ExecPath(path), chromedp.NoSandbox)
	ctx, stop := chromedp.NewExecAllocator(context.Background(), options...)
	t.Cleanup(stop)
	ctx, stop = chromedp.NewContext(ctx)
	t.Cleanup(stop)
	if err := chromedp.Do(ctx); err != nil { // it starts here, and each view is a tab of it
		t.Fatal(err)
	}
	return ctx
}

// A witness notes what a page must not do: say something on the console, throw, or ask for anything but itself.
type witness struct {
	mu   sync.Mutex // guards what was seen
	seen []string
}

func (w *witness) listen(ctx context.Context) error {
	return chromedp.Listen(ctx, func(ev any) {
		var what string
		switch ev := ev.(type) {
		case *runtime.EventConsoleAPICalled:
			what = fmt.Sprintf("console.%s: %s", ev.Type, ev.Args[0].Value)
		case *runtime.EventExceptionThrown:
			what = ev.ExceptionDetails.Text
		case *log.EventEntryAdded:
			what = ev.Entry.Text
		case *network.EventRequestWillBeSent:
			if strings.HasSuffix(ev.Request.URL, "/"+PageName) {
				return
			}
			what = "request of " + ev.Request.URL
		default:
			return
		}
		w.mu.Lock()
		defer w.mu.Unlock()
		w.seen = append(w.seen, what)
	})
}

// A chart is what a reader finds of one.
type chart struct {
	Shapes int    // bars, points, lines
	Tip    string // what it says of what the pointer is on
}

// drawn looks at every chart: brings it before the reader's eyes, and moves the pointer over it until it says something.
const drawn = `(async () => {
	const frame = () => new Promise(requestAnimationFrame);
	const out = {};
	for (const d of document.querySelectorAll('details')) d.open = true;
	for (const e of document.querySelectorAll('[data-chart]')) {
		e.scrollIntoView({block: 'center'});
		for (let i = 0; i < 100 && !e.dataset.drawn; i++) await frame();
		const shapes = [...e.querySelectorAll('svg path, svg circle, svg rect')];
		let tip = null;
		for (let i = shapes.length - 1; i >= 0 && !tip; i--) {
			const box = shapes[i].getBoundingClientRect();
			const at = {clientX: box.x + box.width / 2, clientY: box.y + box.height / 2, bubbles: true};
			shapes[i].dispatchEvent(new MouseEvent('mousemove', at));
			await frame();
			tip = e.querySelector('.tip');
		}
		out[e.id] = {Shapes: shapes.length, Tip: tip ? tip.textContent : ''};
	}
	scrollTo(0, 0);
	return out;
})()`

// A view is a way to look at a page.
type view struct {
	name          string
	width, height int64
	scheme        string
}

var views = []view{
	{"phone", 360, 740, "light"}, {"phone", 390, 844, "dark"}, {"desk", 1280, 900, "light"}, {"desk", 1280, 900, "dark"},
}

// On a phone and on a desk, light and dark: every chart is drawn, nothing runs over the edge, and the page keeps to itself.
func TestBrowser(t *testing.T) {
	root := browser(t)
	p := New(noon, inputs(t))
	if len(p.Charts) < 10 {
		t.Fatalf("%d charts are too few to tell", len(p.Charts))
	}
	page := address(t, p)
	pages := make(map[string]string) // background by scheme
	for _, v := range views {
		t.Run(fmt.Sprintf("%s %d %s", v.name, v.width, v.scheme), func(t *testing.T) {
			pages[v.scheme] = look(t, root, p, page, v)
		})
	}
	if pages["light"] == pages["dark"] {
		t.Errorf("light and dark have the same background %s", pages["light"])
	}
}

// What a browser would take for its own stays text, and no number is too large or too small to be drawn.
func TestBrowserHostile(t *testing.T) {
	root := browser(t)
	const evil = `<script>alert(1)</script>`
	text := head + `{"contender":{"id":"` + evil + `","kind":"sql"}}` + "\n"
	for i, ops := range []int64{1, 1 << 40, 1 << 62} {
		text += sample([]string{"one", "two", evil}[i], ops, "0.001", fmt.Sprintf(`,"latency":{"timed":99,"p50":%d,"p90":%[1]d,"p99":%[1]d,"max":9223372036854775807,
			"curve":[{"at":-9,"time":1},{"at":0.5,"time":%[1]d},{"at":1,"time":9223372036854775807},{"at":99,"time":1}]},"series":{"x_seconds":[1e-300,1,1e300],"`+evil+`":[1,2]}`, i+1))
		text = strings.ReplaceAll(text, "\n\t", "")
	}
	text += `{"profile":{"case":"lookup/by=id","contender":"` + evil + `","of":"cpu","total":1e300,"areas":[{"name":"` + evil + `","part":0.5},{"name":"SQL","part":0.5}]}}` + "\n"
	s, err := result.Read(strings.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	p := New(noon, []Input{{Base: evil, Set: s}})
	if len(p.Charts) != 5 {
		t.Errorf("%d charts", len(p.Charts))
	}
	page := address(t, p)
	for _, v := range views {
		look(t, root, p, page, v)
	}
}

// address writes a page, and says where it is.
func address(t *testing.T, p *Page) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), PageName)
	if err := writeFile(path, p.HTML); err != nil {
		t.Fatal(err)
	}
	u := url.URL{Scheme: "file", Path: filepath.ToSlash(path)}
	return u.String()
}

// look opens the page as one view, and returns its background.
func look(t *testing.T, root context.Context, p *Page, address string, v view) (background string) {
	ctx, stop := chromedp.NewContext(root)
	defer stop()
	var w witness
	if err := w.listen(ctx); err != nil {
		t.Fatal(err)
	}
	scheme := emulation.SetEmulatedMediaParams{Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: v.scheme}}}
	if _, err := chromedp.Call(ctx, emulation.SetEmulatedMedia, scheme); err != nil {
		t.Fatal(err)
	}
	if err := chromedp.Do(ctx, chromedp.EmulateViewport(v.width, v.height), chromedp.Navigate(address)); err != nil {
		t.Fatal(err)
	}
	charts := ask[map[string]chart](t, ctx, drawn)
	width := ask[int](t, ctx, `document.documentElement.scrollWidth`)
	labels := ask[int](t, ctx, `document.querySelectorAll('[data-chart][role=img][aria-label]').length`)
	background = ask[string](t, ctx, `getComputedStyle(document.body).backgroundColor`)
	shoot(t, ctx, v.name+"-"+v.scheme, v.width)
	for id := range p.Charts {
		if c := charts[id]; c.Shapes < 3 || c.Tip == "" {
			t.Errorf("chart %s: %+v", id, c)
		}
	}
	if len(charts) != len(p.Charts) || labels != len(p.Charts) {
		t.Errorf("%d charts of %d in the page, %d labelled", len(charts), len(p.Charts), labels)
	}
	if width > int(v.width) {
		t.Errorf("the page is %d wide on a screen of %d", width, v.width)
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, what := range w.seen {
		t.Error(what)
	}
	return background
}

// ask evaluates a script in the page.
func ask[T any](t *testing.T, ctx context.Context, script string) T {
	t.Helper()
	answer, err := chromedp.Run(ctx, chromedp.Evaluate[T](script, chromedp.EvalAwaitPromise))
	if err != nil {
		t.Fatal(err)
	}
	return answer
}

// shoot takes pictures of the whole page, piece by piece, where somebody wishes to look at it.
func shoot(t *testing.T, ctx context.Context, name string, width int64) {
	if *screenshots == "" {
		return
	}
	const piece = 1700
	if err := chromedp.Do(ctx, chromedp.EmulateViewport(width, piece)); err != nil {
		t.Fatal(err)
	}
	height := ask[int](t, ctx, `document.documentElement.scrollHeight`)
	for i := range (height + piece - 1) / piece {
		ask[bool](t, ctx, fmt.Sprintf(`new Promise(done => { scrollTo(0, %d); requestAnimationFrame(() => requestAnimationFrame(() => done(true))) })`, i*piece))
		png, err := chromedp.Run(ctx, chromedp.CaptureScreenshot())
		if err == nil {
			err = os.WriteFile(filepath.Join(*screenshots, fmt.Sprintf("%s-%02d.png", name, i)), png, 0o666)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
}
