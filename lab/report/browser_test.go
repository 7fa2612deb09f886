package report

import (
	"context"
	"flag"
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
)

var screenshots = flag.String("screenshots", "", "directory for what the browser test sees, to be looked at")

// A view takes a browser some seconds. A browser that says nothing for viewTime has failed. That is
// not the page's fault if another browser shows it.
const (
	viewTime = 2 * time.Minute
	browsers = 3
)

// chromium names the browser; the test is skipped by name where there is none.
func chromium(t *testing.T) string {
	t.Helper()
	path, err := exec.LookPath("chromium")
	if err != nil {
		t.Skip("the page in a browser: no chromium")
	}
	return path
}

// start starts a browser of its own for one view, and opens a tab in it that lives no longer than
// viewTime.
func start(path string) (tab context.Context, stop func(), err error) {
	options := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.ExecPath(path), chromedp.NoSandbox, chromedp.DisableGPU)
	process, kill := chromedp.NewExecAllocator(context.Background(), options...)
	limited, end := context.WithTimeout(process, viewTime)
	tab, _ = chromedp.NewContext(limited)
	stop = func() { end(); kill() }
	if err := chromedp.Do(tab); err != nil {
		stop()
		return nil, nil, fmt.Errorf("start %s: %w", path, err)
	}
	return tab, stop, nil
}

// A witness notes forbidden actions of a page: to write to the console, to throw, or to load
// anything but itself.
type witness struct {
	mu   sync.Mutex // guards seen
	seen []string
}

func (w *witness) listen(ctx context.Context) error {
	return chromedp.Listen(ctx, func(ev any) {
		var what string
		switch ev := ev.(type) {
		case *runtime.EventConsoleAPICalled:
			what = fmt.Sprintf("console.%s of %d values", ev.Type, len(ev.Args))
			if len(ev.Args) > 0 {
				what = fmt.Sprintf("console.%s: %s", ev.Type, ev.Args[0].Value)
			}
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

// all returns the notes up to now.
func (w *witness) all() []string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return slices.Clone(w.seen)
}

// A chart is the part of a chart that a reader sees.
type chart struct {
	Shapes int    // bars, points, lines
	Tip    string // the text at the pointer
}

// A sight is the browser's view of a page.
type sight struct {
	Charts     map[string]chart
	Labels     int // charts with a text for blind readers
	Width      int // pixels that the page takes, wider than the screen if something runs over its edge
	Background string
	said       []string // forbidden actions of the page
}

// drawn looks at every chart: brings it before the reader's eyes, and moves the pointer over it
// until it says something.
const drawn = `(async () => {
	const frame = () => new Promise(requestAnimationFrame);
	const charts = {};
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
		charts[e.id] = {Shapes: shapes.length, Tip: tip ? tip.textContent : ''};
	}
	scrollTo(0, 0);
	return {
		Charts: charts,
		Labels: document.querySelectorAll('[data-chart][role=img][aria-label]').length,
		Width: document.documentElement.scrollWidth,
		Background: getComputedStyle(document.body).backgroundColor,
	};
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

// On a phone and on a desk, light and dark: every chart is drawn, nothing runs over the edge, and
// the page keeps to itself.
func TestBrowser(t *testing.T) {
	path := chromium(t)
	p := New(noon, inputs(t))
	if len(p.Charts) < 10 {
		t.Fatalf("%d charts are too few to tell", len(p.Charts))
	}
	page := address(t, p)
	pages := make(map[string]string) // background by scheme
	for _, v := range views {
		t.Run(fmt.Sprintf("%s %d %s", v.name, v.width, v.scheme), func(t *testing.T) {
			pages[v.scheme] = look(t, path, p, page, v)
		})
	}
	if pages["light"] == pages["dark"] {
		t.Errorf("light and dark have the same background %s", pages["light"])
	}
}

// HTML and scripts in a result stay text, and no number is too large or too small to be drawn.
func TestBrowserHostile(t *testing.T) {
	path := chromium(t)
	const evil = `<script>alert(1)</script>`
	text := head + `{"contender":{"id":"` + evil + `","kind":"sql"}}` + "\n"
	for i, ops := range []int64{1, 1 << 40, 1 << 62} {
		text += sample([]string{"one", "two", evil}[i], ops, "0.001", fmt.Sprintf(`,"latency":{"timed":99,"p50":%d,"p90":%[1]d,"p99":%[1]d,"max":9223372036854775807,
			"curve":[{"at":-9,"time":1},{"at":0.5,"time":%[1]d},{"at":1,"time":9223372036854775807},{"at":99,"time":1}]},"series":{"x_seconds":[1e-300,1,1e300],"`+evil+`":[1,2]}`, i+1))
		text = strings.ReplaceAll(text, "\n\t", "")
	}
	text += `{"profile":{"case":"lookup/by=id","contender":"` + evil + `","of":"cpu","total":1e300,"leaves":[{"name":"` + evil + `","part":0.5},{"name":"SQL","part":0.5}]}}` + "\n"
	s := read(t, strings.NewReader(text))
	p := New(noon, []Input{{Base: evil, Set: s}})
	if len(p.Charts) != 4 {
		t.Errorf("%d charts", len(p.Charts))
	}
	page := address(t, p)
	for _, v := range views {
		look(t, path, p, page, v)
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

// look looks at the page as one view, and returns its background.
func look(t *testing.T, path string, p *Page, address string, v view) string {
	t.Helper()
	seen, err := see(path, address, v)
	for again := 1; err != nil && again < browsers; again++ {
		t.Logf("%s: %v: once more in another browser", v.name, err)
		seen, err = see(path, address, v)
	}
	if err != nil {
		t.Fatal(err)
	}
	for id := range p.Charts {
		if c := seen.Charts[id]; c.Shapes < 3 || c.Tip == "" {
			t.Errorf("chart %s: %+v", id, c)
		}
	}
	if len(seen.Charts) != len(p.Charts) || seen.Labels != len(p.Charts) {
		t.Errorf("%d charts of %d in the page, %d labelled", len(seen.Charts), len(p.Charts), seen.Labels)
	}
	if seen.Width > int(v.width) {
		t.Errorf("the page is %d wide on a screen of %d", seen.Width, v.width)
	}
	for _, what := range seen.said {
		t.Error(what)
	}
	return seen.Background
}

// see opens the page as one view. An error is the browser's; errors of the page are in its notes.
func see(path, address string, v view) (sight, error) {
	var s sight
	tab, stop, err := start(path)
	if err != nil {
		return s, err
	}
	defer stop()
	var w witness
	if err := w.listen(tab); err != nil {
		return s, err
	}
	scheme := emulation.SetEmulatedMediaParams{Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: v.scheme}}}
	if _, err := chromedp.Call(tab, emulation.SetEmulatedMedia, scheme); err != nil {
		return s, err
	}
	if err := chromedp.Do(tab, chromedp.EmulateViewport(v.width, v.height), chromedp.Navigate(address)); err != nil {
		return s, err
	}
	if s, err = ask[sight](tab, drawn); err != nil {
		return s, err
	}
	s.said = w.all()
	return s, shoot(tab, v.name+"-"+v.scheme, v.width)
}

// ask evaluates a script in the page.
func ask[T any](tab context.Context, script string) (T, error) {
	return chromedp.Run(tab, chromedp.Evaluate[T](script, chromedp.EvalAwaitPromise))
}

// shoot takes pictures of the whole page, piece by piece, if -screenshots asks for them.
func shoot(tab context.Context, name string, width int64) error {
	if *screenshots == "" {
		return nil
	}
	const piece = 1700
	if err := chromedp.Do(tab, chromedp.EmulateViewport(width, piece)); err != nil {
		return err
	}
	height, err := ask[int](tab, `document.documentElement.scrollHeight`)
	if err != nil {
		return err
	}
	for i := range (height + piece - 1) / piece {
		if _, err := ask[bool](tab, fmt.Sprintf(`new Promise(done => { scrollTo(0, %d); requestAnimationFrame(() => requestAnimationFrame(() => done(true))) })`, i*piece)); err != nil {
			return err
		}
		png, err := chromedp.Run(tab, chromedp.CaptureScreenshot())
		if err == nil {
			err = os.WriteFile(filepath.Join(*screenshots, fmt.Sprintf("%s-%02d.png", name, i)), png, 0o666)
		}
		if err != nil {
			return err
		}
	}
	return nil
}
