package serve_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
)

// A screen is what a reader looks at pages with.
type screen struct {
	width   int64
	scheme  string // "light" or "dark"
	scripts bool
}

func (s screen) String() string {
	scripts := "plain"
	if s.scripts {
		scripts = "scripts"
	}
	return fmt.Sprintf("%s-%d-%s", scripts, s.width, s.scheme)
}

// screens returns phones and a desk, light and dark, with scripts and then without.
func screens() (list []screen) {
	for _, scripts := range []bool{true, false} {
		for _, scheme := range []string{"light", "dark"} {
			for _, width := range []int64{360, 390, 1280} {
				list = append(list, screen{width, scheme, scripts})
			}
		}
	}
	return list
}

// testScreens looks at all scenes: nothing runs over the edge, no page loads from elsewhere or
// breaks its policy, and axe-core finds nothing. Without -browser.all it looks at each scene on one
// screen with scripts, and on the same one without.
func testScreens(t *testing.T, b *browser) {
	axe := axeSource(t)
	makeScenes(b)
	backgrounds := make(map[string]string)
	for i, s := range screens() {
		b.look(s.width, s.scheme, s.scripts)
		for j, sc := range scenes {
			if sc.only != "" && (sc.only == "scripts") != s.scripts || !*allPages && (i+j)%6 != 0 {
				continue
			}
			b.play(sc)
			b.inspect(sc.name+"-"+s.String(), s)
			if s.scripts && axe != "" {
				b.axe(axe, sc.name+"-"+s.String())
			}
			backgrounds[s.scheme] = ask[string](b, `getComputedStyle(document.body).backgroundColor`)
			if sc.end != nil {
				sc.end(b)
			}
		}
	}
	if backgrounds["light"] == backgrounds["dark"] {
		t.Errorf("light and dark are both %s", backgrounds["light"])
	}
}

// play brings a scene about.
func (b *browser) play(sc scene) {
	b.t.Helper()
	b.open(sc.path)
	b.wait(`document.readyState === "complete"`)
	if sc.act != nil {
		sc.act(b)
	}
	b.wait(fmt.Sprintf(`[...document.querySelectorAll(%q)].some(e => e.checkVisibility()) && document.getAnimations().length === 0`, sc.has))
}

// inspect looks at the page that is open, and takes a picture of it.
func (b *browser) inspect(name string, s screen) {
	b.t.Helper()
	if wide := ask[int64](b, `document.documentElement.scrollWidth`); wide > s.width {
		b.t.Errorf("%s is %d wide", name, wide)
	}
	if ask[bool](b, `document.documentElement.classList.contains("scripted")`) != s.scripts {
		b.t.Errorf("%s: scripts run: %t", name, !s.scripts)
	}
	if list := ask[string](b, small); list != "" && s.width < 400 {
		b.t.Errorf("%s: small targets:\n%s", name, list)
	}
	b.shoot(name)
}

// small is a script that returns what a finger would miss.
const small = `[...document.querySelectorAll("button, summary, .button, .icon, input, .crumbs a, td.name a")].filter(e => {
	const r = e.getBoundingClientRect();
	if (r.width === 0 || e.closest(".search .ways") || e.closest(".lines")) return false;
	const around = e.closest("td.name") ? e.closest("tr") : e.closest("label.check") ?? e;
	return around.getBoundingClientRect().height < 43.5;
}).map(e => e.outerHTML.slice(0, 100)).join("\n")`

// A scene is something that a reader sees.
type scene struct {
	name string
	path string         // of the page where it begins
	has  string         // a selector of what is shown then
	only string         // "scripts" or "plain" if it needs the one or the other
	act  func(*browser) // what the reader does, or nil
	end  func(*browser) // takes that back, or is nil
}

// scenes are those of siteVolume and of makeScenes.
var scenes = []scene{
	{name: "root", path: "/", has: "#list .i.dir"},
	{name: "bottom", path: "/", has: ".foot", act: does(`scrollTo(0, 1e6)`)},
	{name: "sorted", path: "/?sort=size&desc=1", has: "th[aria-sort=descending]"},
	{name: "empty", path: "/src/empty/", has: ".empty"},
	{name: "folder", path: "/media/", has: "#list .i.video"},
	{name: "odd", path: "/odd/", has: "#list tr"},
	{name: "many", path: "/many/?page=2", has: ".pages"},
	{name: "nothing", path: "/nothing", has: ".empty h1"},
	{name: "near", path: "/src/sub/nothing", has: ".empty h1"},
	{name: "trash", path: "/-/trash", has: ".versions form"},
	{name: "links", path: "/-/links", has: ".versions form"},
	{name: "download", path: "/src/", has: ".drop ul", act: does(`document.querySelectorAll("summary")[0].click()`)},
	{name: "snapshots", path: "/src/", has: ".drop ul", act: does(`document.querySelectorAll("summary")[1].click()`)},

	{name: "code", path: "/src/main.go?view", has: ".lines .hk"},
	{name: "line", path: "/src/main.go?view#L2", has: ".line:target"},
	{name: "text", path: "/a%20rather%20long%20name%20of%20a%20file%20that%20does%20not%20end%20before%20the%20line%20of%20a%20phone%20ends.txt?view", has: ".lines"},
	{name: "markdown", path: "/README.md?view", has: ".prose h2"},
	{name: "source", path: "/README.md?view=text", has: ".lines .line"},
	{name: "table", path: "/more/sizes.csv?view", has: ".data th"},
	{name: "json", path: "/more/one.json?view", has: ".code.wrap"},
	{name: "log", path: "/more/long.log?view&part=2", has: ".pages [rel=next]"},
	{name: "log-end", path: "/more/long.log?view&part=end", has: ".pages [rel=prev]"},
	{name: "document", path: "/more/README.md?view", has: ".prose .alert"},
	{name: "readme", path: "/more/", has: ".readme .alert"},
	{name: "long-name", path: "/more/" + strings.Repeat("name", 50) + "?view", has: ".title.long"},
	{name: "vector", path: "/picture.svg?view", has: ".show img"},
	{name: "photo", path: "/media/photo.png?view", has: ".show img"},
	{name: "sound", path: "/media/sound.wav?view", has: "audio"},
	{name: "film", path: "/media/film.webm?view", has: "video", act: loaded(`document.querySelector("video").videoWidth > 0`)},
	{name: "pdf", path: "/media/paper.pdf?view", has: "iframe.pdf", act: paints},
	{name: "binary", path: "/data.bin?view", has: ".empty"},
	{name: "evil", path: "/%3Cimg%20src=x%20onerror=alert(1)%3E.txt?view", has: ".lines .line"},

	{name: "names", path: "/-/search?q=main&path=", has: ".hits a mark"},
	{name: "contents", path: "/-/search?q=hello&content=1&path=", has: ".hits .in mark"},
	{name: "unfound", path: "/-/search?q=nowhere&path=", has: ".done"},
	{name: "ask", path: "/-/search?path=", has: ".empty"},
	{name: "past", path: "/-/at/monday/src/", has: ".notice.past"},
	{name: "past-file", path: "/-/at/monday/src/main.go?view", has: ".notice.past"},
	{name: "versions", path: "/src/main.go?versions", has: ".versions form"},
	{name: "versions-dir", path: "/src/?versions", has: ".versions form"},
	{name: "changes", path: "/src/main.go?diff=monday", has: ".diff .add"},
	{name: "changes-dir", path: "/src/?diff=monday", has: ".changes .tag"},
	{name: "shared", path: "/", has: "#list", act: follows(&sharedLink)},
	{name: "inbox", path: "/", has: ".dropzone", act: follows(&inboxLink)},

	{name: "ticked", path: "/src/", has: ".several button", only: "plain", act: clicks(pick("notes.txt"))},
	{
		name: "removed", path: "/src/", has: "form.notice button", only: "plain",
		act: clicks(pick("notes.txt"), `document.querySelector(".several button[value=remove]")`), end: notesBack,
	},

	{name: "end", path: "/-/links", has: ".sheet .danger", only: "plain", act: clicks(`document.querySelector(".versions form button")`)},

	{name: "filter", path: "/", has: ".filtered", only: "scripts", act: types("read")},
	{name: "filter-none", path: "/", has: ".none", only: "scripts", act: types("nowhere")},
	{name: "selected", path: "/src/", has: ".several.on", only: "scripts", act: clicks(`all`)},
	{name: "menu", path: "/src/", has: ".menu", only: "scripts", act: clicks(menuOf("main.go"))},
	{name: "mkdir", path: "/src/", has: "dialog[open] input", only: "scripts", act: clicks(`document.querySelector("[data-do=mkdir]")`)},
	{name: "rename", path: "/src/", has: "dialog[open] input", only: "scripts", act: clicks(menuOf("notes.txt"), item("Rename"))},
	{name: "taken", path: "/src/", has: "dialog .problem", only: "scripts", act: renames("main.go")},
	{name: "renamed", path: "/src/", has: ".toast button", only: "scripts", act: renames("a new name.txt"), end: notesBack},
	{
		name: "move", path: "/src/", has: "dialog[open] .folders .up", only: "scripts",
		act: clicks(`all`, `document.querySelector(".several [value=move].js")`),
	},
	{name: "remove", path: "/src/", has: ".toast button", only: "scripts", act: clicks(menuOf("notes.txt"), item("Remove")), end: notesBack},
	{name: "undone", path: "/src/", has: ".toast", only: "scripts", act: func(b *browser) {
		clicks(menuOf("notes.txt"), item("Remove"))(b)
		b.undo()
		b.wait(`document.querySelector(".toast")?.textContent === "Undone"`)
	}},
	{name: "share", path: "/src/", has: "dialog[open] select", only: "scripts", act: clicks(`document.querySelector("[data-do=share]")`)},
	{
		name: "share-upload", path: "/src/", has: "dialog[open] [name=max]", only: "scripts",
		act: clicks(`document.querySelector("[data-do=share]")`, `document.querySelector("dialog [value=upload]")`),
	},
	{
		name: "share-made", path: "/src/notes.txt?view", has: "dialog [name=url]", only: "scripts",
		act: clicks(`document.querySelector("[data-do=share]")`, `document.querySelector("dialog .primary")`),
	},
	{
		name: "help", path: "/src/", has: "dialog[open] .keys", only: "scripts",
		act: does(`document.body.dispatchEvent(new KeyboardEvent("keydown", {key: "?", bubbles: true}))`),
	},

	{name: "upload", path: "/src/", has: "dialog[open] .stack, [data-do=upload]", only: "scripts", act: clicks(`document.querySelector("[data-do=upload]")`)},
	{name: "drop", path: "/src/", has: ".over", only: "scripts", act: does(`over.hidden = false`)},
	{name: "exists", path: "/src/", has: "dialog[open] [value=both]", only: "scripts", act: uploads(map[string]int{"notes.txt": 3})},
	{name: "uploading", path: "/src/", has: ".uploads progress", only: "scripts", act: halts, end: givesUp},
	{name: "unfinished", path: "/src/", has: "#unfinished .notice", only: "scripts", act: leaves, end: clicks(`document.querySelector("[data-forget]")`)},
	{name: "refused", path: "/src/", has: ".uploads .failed", only: "scripts", act: uploads(map[string]int{"a file that is too large.bin": 9 << 20})},
	{
		name: "uploaded", path: "/src/", has: ".toast", only: "scripts", act: uploads(map[string]int{"new.txt": 3}),
		end: func(b *browser) { check(b.t, b.vol.Remove("src/new.txt")) },
	},
}

// sceneReadme has what READMEs have at their head, and what Markdown has besides.
const sceneReadme = "<h1 align=\"center\">Name</h1>\n<p align=\"center\">\n  <img src=\"../picture.svg\" width=\"90\">\n  <br>\n  <b>What it is</b>, <kbd>Ctrl</kbd>\n</p>\n\n" +
	"[![build](https://img.example.com/b.svg)](https://ci.example.com)\n\n> [!NOTE]\n> A note with `code`.\n\n> [!TIP]\n> A tip.\n\n> [!IMPORTANT]\n> It is.\n\n> [!WARNING]\n> A warning.\n\n> [!CAUTION]\n> Careful.\n\n" +
	"<details>\n<summary>More of it</summary>\n\nText\n\n</details>\n\n## One\n\nA claim[^1].\n\n### Two\n\n```go\nfunc main() {}\n```\n\n## Three\n\nText\n\n[^1]: The source of it.\n"

// Links of makeScenes.
var sharedLink, inboxLink string

// makeScenes adds to siteVolume what only scenes need.
func makeScenes(b *browser) {
	b.t.Helper()
	b.open("/")
	b.media("media")
	check(b.t, b.vol.Mkdir("odd", 0o755))
	for _, name := range oddNames {
		check(b.t, b.vol.WriteFile("odd/"+name, []byte(name), 0o644))
	}
	check(b.t, b.vol.Symlink("../src/main.go", "odd/link"))
	check(b.t, b.vol.Mkdir("many", 0o755))
	for i := range 1005 {
		check(b.t, b.vol.WriteFile(fmt.Sprintf("many/%d", i), nil, 0o644))
	}
	check(b.t, b.vol.Mkdir("more", 0o755))
	for name, text := range map[string]string{
		"sizes.csv": "name,size,note\na,1,\nb,22,\"two, or more\"\n", "one.json": `{"list":[` + strings.Repeat(`{"name":"a","size":1.5},`, 40) + `null]}`,
		"long.log": strings.Repeat("2026-11-27T04:00:00Z "+strings.Repeat("a line of a log ", 12)+"\n", 15_000), "README.md": sceneReadme, strings.Repeat("name", 50): "x",
	} {
		check(b.t, b.vol.WriteFile("more/"+name, []byte(text), 0o644))
	}
	sharedLink, inboxLink = b.share("src", false), b.share("src", true)
	check(b.t, b.vol.WriteFile("odd/removed.txt", []byte("x"), 0o644))
	ask[any](b, `fetch("/odd/removed.txt", {method: "DELETE"}).then(r => r.status)`)
}

// share makes a link, without a page.
func (b *browser) share(path string, upload bool) string {
	b.t.Helper()
	const script = `fetch("/-/share", {method: "POST", body: JSON.stringify({path: %q, write: %t})}).then(r => r.json()).then(r => r.url)`
	return ask[string](b, fmt.Sprintf(script, path, upload))
}

// notesBack puts back what scenes rename or remove.
func notesBack(b *browser) {
	check(b.t, b.vol.RemoveAll("src/a new name.txt"))
	check(b.t, b.vol.WriteFile("src/notes.txt", []byte("one\ntwo\nthree\n"), 0o644))
}

func menuOf(name string) string { return row(name) + `.querySelector("[data-do=menu]")` }

// item is a script for an item of the menu that is open.
func item(label string) string {
	return fmt.Sprintf(`[...document.querySelectorAll(".menu button")].find(e => e.textContent === %q)`, label)
}

// does runs a script.
func does(script string) func(*browser) {
	return func(b *browser) { b.t.Helper(); ask[any](b, script) }
}

// clicks waits for what scripts find, and clicks it.
func clicks(scripts ...string) func(*browser) {
	return func(b *browser) {
		b.t.Helper()
		for _, script := range scripts {
			b.wait(script)
			b.click(script)
		}
	}
}

// types writes into the filter.
func types(text string) func(*browser) {
	return does(fmt.Sprintf(`q.focus(); q.value = %q; q.dispatchEvent(new Event("input"))`, text))
}

// renames gives notes.txt another name.
func renames(to string) func(*browser) {
	return func(b *browser) {
		b.t.Helper()
		clicks(menuOf("notes.txt"), item("Rename"))(b)
		b.fill(to)
	}
}

// loaded waits until a script is true.
func loaded(script string) func(*browser) {
	return func(b *browser) { b.t.Helper(); b.wait(script) }
}

// follows goes to a link.
func follows(link *string) func(*browser) {
	return func(b *browser) { b.t.Helper(); b.open(*link); b.wait(`document.readyState === "complete"`) }
}

// uploads chooses files of these sizes.
func uploads(sizes map[string]int) func(*browser) {
	return func(b *browser) {
		b.t.Helper()
		b.scripted()
		dir, list := b.t.TempDir(), []string(nil)
		for name, size := range sizes {
			list = append(list, filepath.Join(dir, name))
			check(b.t, os.WriteFile(filepath.Join(dir, name), []byte(strings.Repeat("x", size)), 0o644))
		}
		b.do(chromedp.SetUploadFiles(chromedp.CSS("#files"), list, chromedp.NodeReady))
	}
}

// halts begins an upload of two files, which stop on the way.
func halts(b *browser) {
	b.t.Helper()
	b.hold.shut()
	uploads(map[string]int{"holiday pictures of the year.zip": 6 << 20, "a.bin": 5 << 20})(b)
	b.wait(`[...document.querySelectorAll(".uploads .state")].filter(e => e.textContent !== "").length === 2`)
}

// givesUp cancels them.
func givesUp(b *browser) {
	b.t.Helper()
	b.click(`document.querySelector("[data-all]")`)
	b.hold.open()
	b.wait(`document.querySelector(".uploads") === null && localStorage.length === 0`)
}

// leaves loads the page again while it sends a file.
func leaves(b *browser) {
	b.t.Helper()
	b.cut.Store(1 << 20)
	b.hold.shut()
	uploads(map[string]int{"holiday pictures of the year.zip": 6 << 20})(b)
	b.wait(`Object.keys(localStorage).some(key => key.startsWith("folio.upload"))`)
	b.do(chromedp.Reload())
	b.scripted()
	b.hold.open()
}
