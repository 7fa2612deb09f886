package serve_test

import (
	"testing"
)

// footLink is a script for a link at the foot of the page.
func footLink(text string) string {
	return `[...document.querySelectorAll(".foot a")].find(e => e.textContent === "` + text + `")`
}

// testTrash removes a file and finds it again: by a key, and in the trash after the page was loaded
// again, with scripts and without.
func testTrash(t *testing.T, b *browser) {
	const text = "one\ntwo\nthree\n"
	b.look(1280, "light", true)
	b.open("/src/")
	b.scripted()
	ask[any](b, row("notes.txt")+`.querySelector("td.name a").focus()`)
	b.press("\u007f")
	b.wait(row("notes.txt") + ` === null`)
	b.file("src/notes.txt", "")
	b.chord(ctrl, "z", 'Z')
	b.wait(row("notes.txt") + ` !== null`)
	b.file("src/notes.txt", text)

	for _, scripts := range []bool{true, false} {
		b.look(390, "light", scripts)
		b.open("/src/")
		b.click(pick("notes.txt"))
		b.click(`document.querySelector(".several button[value=remove]")`)
		b.wait(row("notes.txt") + ` === null`)
		b.file("src/notes.txt", "")
		b.open("/src/")
		b.click(footLink("Trash"))
		b.wait(`location.pathname === "/-/trash" && document.querySelector(".versions li").textContent.includes("notes.txt")`)
		b.shoot("trash")
		b.click(`document.querySelector(".versions form button")`)
		b.wait(`location.pathname === "/-/trash" && document.querySelector(".versions li") === null`)
		b.file("src/notes.txt", text)
	}
}

// testForever removes files where there is no trash: the page asks first, with scripts and without.
func testForever(t *testing.T, b *browser) {
	b.look(1280, "light", true)
	b.open("/src/")
	b.scripted()
	ask[any](b, row("notes.txt")+`.querySelector("td.name a").focus()`)
	b.press("\u007f")
	b.wait(`document.querySelector("dialog[open] h2").textContent === "Remove notes.txt for good?"`)
	b.shoot("forever")
	b.press("\r") // which is Cancel
	b.wait(`document.querySelector("dialog") === null`)
	b.file("src/notes.txt", "one\ntwo\nthree\n")
	b.chord(ctrl, "a", 'A')
	b.press("\u007f")
	b.wait(`document.querySelector("dialog[open] h2").textContent === "Remove 3 items for good?"`)
	b.press(escape)
	b.wait(`document.querySelector("dialog") === null`)
	b.press(escape)
	b.selected(0)
	b.click(row("notes.txt") + `.querySelector("[data-do=menu]")`)
	b.click(`document.querySelector(".menu .danger")`)
	b.wait(`document.querySelector("dialog[open] .danger") !== null`)
	b.click(`document.querySelector("dialog .danger")`)
	b.wait(row("notes.txt") + ` === null`)
	b.file("src/notes.txt", "")

	b.look(390, "dark", false)
	b.open("/src/")
	b.click(pick("main.go"))
	b.click(`document.querySelector(".several button[value=remove]")`)
	b.wait(`document.querySelector(".sheet h1") !== null`)
	b.shoot("forever-plain")
	if _, err := b.vol.Stat("src/main.go"); err != nil {
		t.Error("it is removed before the answer")
	}
	b.click(`document.querySelector(".sheet a")`)
	b.wait(row("main.go") + ` !== null`)
	b.click(pick("main.go"))
	b.click(`document.querySelector(".several button[value=remove]")`)
	b.wait(`document.querySelector(".sheet .danger") !== null`)
	b.click(`document.querySelector(".sheet .danger")`)
	b.wait(`document.querySelector("#list") !== null && ` + row("main.go") + ` === null`)
	b.file("src/main.go", "")
}

// testLinkList ends links in the page, with scripts and without.
func testLinkList(t *testing.T, b *browser) {
	b.look(1280, "light", true)
	b.open("/src/")
	b.scripted()
	links := []string{b.share("src", false), b.share("src", true)}
	for _, scripts := range []bool{true, false} {
		b.look(390, "light", scripts)
		b.open("/src/")
		b.click(footLink("Links"))
		b.wait(`location.pathname === "/-/links" && document.querySelectorAll(".versions li").length > 0`)
		b.shoot("links")
		n := ask[int](b, `document.querySelectorAll(".versions li").length`)
		if scripts {
			ask[any](b, `window.confirm = () => false`)
			b.click(`document.querySelector(".versions form button")`)
			ask[any](b, `window.confirm = () => true`)
		}
		b.click(`document.querySelector(".versions form button")`)
		if !scripts {
			b.wait(`document.querySelector(".sheet h1").textContent === "End this link?"`)
			b.click(`document.querySelector(".sheet .danger")`)
		}
		b.wait(`location.pathname === "/-/links" && document.readyState === "complete" && document.querySelectorAll(".versions li").length === ` + string(rune('0'+n-1)))
	}
	b.look(1280, "light", true)
	for _, link := range links {
		b.open(link)
		b.wait(`document.body.textContent.includes("Status 404")`)
	}
}
