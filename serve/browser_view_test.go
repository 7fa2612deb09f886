package serve_test

import (
	"strings"
	"testing"
)

// testView reads a README as authors write them, goes through a long text, copies code, and opens a
// file by a click beside its name.
func testView(t *testing.T, b *browser) {
	check(t, b.vol.WriteFile("src/README.md", []byte(sceneReadme+`<img src=x onerror="document.title='evil'"><script>document.title="evil"</script><p onclick="x" style="position:fixed">`), 0o644))
	check(t, b.vol.WriteFile("src/long.log", []byte(strings.Repeat(strings.Repeat("a line of a log ", 20)+"\n", 5000)+"the end\n"), 0o644))
	for _, scripts := range []bool{true, false} {
		b.look(1280, "light", scripts)
		b.open("/src/README.md?view")
		b.wait(`document.querySelector(".prose h2[align=center]") !== null && document.querySelector(".prose .alert.note .title").textContent === "Note"`)
		b.wait(`document.querySelectorAll("h1").length === 1 && document.title.startsWith("README.md") && document.querySelector(".foot").closest("main, article, details") === null`)
		b.click(`document.querySelector(".prose summary")`)
		b.wait(`document.querySelector(".prose details").open`)
		b.click(`document.querySelector(".footnote-ref")`)
		b.wait(`location.hash === "#h-fn:1"`)
		b.click(`document.querySelector(".toc a[href='#h-three']")`)
		b.wait(`location.hash === "#h-three"`)
		b.open("/src/long.log?view")
		b.click(`[...document.querySelectorAll(".pages a")].find(e => e.textContent === "End")`)
		b.wait(`location.search === "?view&part=end" && document.querySelector(".code").textContent.endsWith("the end\n")`)
		b.click(`document.querySelector(".pages [rel=prev]")`)
		b.wait(`location.search === "?view" && document.querySelector(".lines #L2") !== null`)
	}
	b.look(1280, "light", true)
	b.open("/src/main.go?view")
	b.scripted()
	ask[any](b, `navigator.clipboard.writeText = async text => { window.copied = text }`)
	b.click(`document.querySelector(".copied .icon")`)
	b.wait(`window.copied === "package main\n\nfunc main() {\n\tprintln(\"hello\", 2)\n}\n" && document.querySelector(".toast").textContent === "Copied"`)
	b.open("/src/")
	b.scripted()
	b.click(menuOf("empty"))
	b.wait(`[...document.querySelectorAll(".menu a")].some(e => e.textContent === "Download as .zip" && e.pathname === "/-/archive/src/empty.zip")`)
	b.press(escape)
	b.click(row("notes.txt") + `.querySelector("td.time")`)
	b.wait(`location.pathname === "/src/notes.txt"`)
}
