package serve_test

import (
	"fmt"
	"testing"

	"github.com/foliofs/folio"
)

// shownRows wants that many rows to be shown.
func (b *browser) shownRows(n int) {
	b.t.Helper()
	b.wait(fmt.Sprintf(`document.querySelectorAll("#list tbody tr:not([hidden])").length === %d`, n))
}

// testFilter filters and selects in a directory of more names than one page shows, and searches by
// Enter.
func testFilter(t *testing.T, b *browser) {
	check(t, b.vol.Update(t.Context(), func(tx *folio.Tx) error {
		err := tx.Mkdir("many", 0o755)
		for i := 0; i < 2500 && err == nil; i++ {
			err = tx.WriteFile(fmt.Sprintf("many/%04d.txt", i), nil, 0o644)
		}
		for i := 0; i < 8 && err == nil; i++ {
			err = tx.WriteFile(fmt.Sprintf("many/z Fóto-%d.jpg", i), nil, 0o644)
		}
		return err
	}))
	left := func(n int) {
		t.Helper()
		b.wait("true")
		if list, err := b.vol.ReadDir("many"); err != nil || len(list) != n {
			t.Errorf("%d are left, want %d, %v", len(list), n, err)
		}
	}
	b.look(1280, "light", true)
	b.open("/many/")
	b.scripted()
	b.shownRows(1000)
	ask[any](b, `q.focus()`)
	b.press("foto")
	b.shownRows(8)
	b.wait(`document.querySelector(".filtered").textContent.includes("8 of 2508 names")`)
	b.wait(`document.activeElement.id === "q" && location.search === "?match=foto"`)
	b.shoot("filter-all")
	b.press("x")
	b.wait(`document.querySelector(".none").checkVisibility() && document.querySelector("#list") === null`)
	b.press("\b")
	b.shownRows(8)
	b.press("\r")
	b.wait(`location.pathname === "/-/search" && !location.search.includes("content") && document.querySelector(".done")?.textContent.includes("8 results")`)

	b.open("/many/")
	b.scripted()
	b.chord(ctrl, "a", 'A')
	b.selected(1000)
	b.wait(`document.querySelector(".whole").checkVisibility()`)
	b.click(`document.querySelector(".whole input")`)
	b.wait(`document.querySelector(".several .count").textContent === "2508 selected"`)
	b.shoot("select-all")
	b.press("\u007f")
	b.wait(`document.querySelector(".empty h2")?.textContent === "This folder is empty"`)
	left(0)
	b.undo()
	b.shownRows(1000)
	left(2508)
	b.chord(ctrl, "a", 'A')
	b.click(`document.querySelector(".whole input")`)
	b.click(pick("0003.txt")) // which takes the others out, too
	b.wait(`document.querySelector(".several .count").textContent === "999 selected" && !document.querySelector(".whole").checkVisibility()`)

	b.look(390, "light", false)
	b.open("/many/?match=foto")
	b.shownRows(8)
	b.open("/many/?match=txt")
	b.click(`document.querySelector(".whole input")`)
	b.click(`document.querySelector(".several button[value=remove]")`)
	b.wait(`location.search.startsWith("?removed=")`)
	left(8)
}
