package serve_test

import (
	"bytes"
	"encoding/base64"
	"encoding/binary"
	"fmt"
	"image"
	"image/color"
	"image/png"
	"math"
	"path"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
)

// wav returns a tone: 16 bits, two channels.
func wav(seconds int) []byte {
	const rate = 44100
	size := uint32(seconds * rate * 4)
	b := append([]byte("RIFF"), binary.LittleEndian.AppendUint32(nil, 36+size)...)
	b = append(b, "WAVEfmt \x10\x00\x00\x00\x01\x00\x02\x00"...)
	b = binary.LittleEndian.AppendUint32(b, rate)
	b = binary.LittleEndian.AppendUint32(b, rate*4)
	b = append(b, "\x04\x00\x10\x00data"...)
	b = binary.LittleEndian.AppendUint32(b, size)
	for i := range seconds * rate {
		v := uint16(int16(8000 * math.Sin(float64(i)*2*math.Pi*440/rate)))
		b = binary.LittleEndian.AppendUint16(binary.LittleEndian.AppendUint16(b, v), v)
	}
	return b
}

// paperColor is the colour of the one page of a paper.
var paperColor = color.RGBA{R: 0x19, G: 0xb3, B: 0x4d, A: 0xff}

// paper returns a PDF with one page, which has one colour.
func paper() []byte {
	var b bytes.Buffer
	b.WriteString("%PDF-1.4\n")
	c := paperColor
	draw := fmt.Sprintf("%.3f %.3f %.3f rg 0 0 400 300 re f", float64(c.R)/255, float64(c.G)/255, float64(c.B)/255)
	var starts []int
	for i, object := range []string{
		"<</Type/Catalog/Pages 2 0 R>>", "<</Type/Pages/Kids[3 0 R]/Count 1>>",
		"<</Type/Page/Parent 2 0 R/MediaBox[0 0 400 300]/Contents 4 0 R/Resources<<>>>>",
		fmt.Sprintf("<</Length %d>>stream\n%s\nendstream", len(draw), draw),
	} {
		starts = append(starts, b.Len())
		fmt.Fprintf(&b, "%d 0 obj%s\nendobj\n", i+1, object)
	}
	table := b.Len()
	fmt.Fprintf(&b, "xref\n0 %d\n0000000000 65535 f \n", len(starts)+1)
	for _, at := range starts {
		fmt.Fprintf(&b, "%010d 00000 n \n", at)
	}
	fmt.Fprintf(&b, "trailer<</Size %d/Root 1 0 R>>\nstartxref\n%d\n%%%%EOF\n", len(starts)+1, table)
	return b.Bytes()
}

// photo returns a picture that is larger than any screen.
func photo(t *testing.T) []byte {
	t.Helper()
	m := image.NewRGBA(image.Rect(0, 0, 1600, 1000))
	for y := range 1000 {
		for x := range 1600 {
			m.SetRGBA(x, y, color.RGBA{R: uint8(x / 7), G: uint8(y / 4), B: 0x90, A: 0xff})
		}
	}
	var b bytes.Buffer
	check(t, png.Encode(&b, m))
	return b.Bytes()
}

// film lets the browser record a second of a canvas.
func (b *browser) film() []byte {
	b.t.Helper()
	const script = `(async () => {
		const canvas = document.createElement("canvas"), parts = [];
		[canvas.width, canvas.height] = [320, 180];
		const context = canvas.getContext("2d"), recorder = new MediaRecorder(canvas.captureStream(25), {mimeType: "video/webm"});
		recorder.ondataavailable = event => parts.push(event.data);
		const done = new Promise(ok => recorder.onstop = ok);
		recorder.start();
		for (let i = 0; i < 25; i++) {
			context.fillStyle = "hsl(" + i * 14 + " 80% 50%)";
			context.fillRect(0, 0, 320, 180);
			await new Promise(ok => setTimeout(ok, 40));
		}
		recorder.stop();
		await done;
		const bytes = new Uint8Array(await new Blob(parts).arrayBuffer());
		return btoa(Array.from(bytes, byte => String.fromCharCode(byte)).join(""));
	})()`
	data, err := base64.StdEncoding.DecodeString(ask[string](b, script))
	check(b.t, err)
	return data
}

// media makes a directory with a picture, a sound, a film and a paper.
func (b *browser) media(dir string) {
	b.t.Helper()
	check(b.t, b.vol.Mkdir(dir, 0o755))
	for name, data := range map[string][]byte{"photo.png": photo(b.t), "sound.wav": wav(1), "film.webm": b.film(), "paper.pdf": paper()} {
		check(b.t, b.vol.WriteFile(path.Join(dir, name), data, 0o644))
	}
}

// paints waits until the screen has the colour of a paper.
func paints(b *browser) {
	b.t.Helper()
	var last image.Image
	for end := time.Now().Add(waitTime); time.Now().Before(end); {
		data, err := chromedp.Run(b.tab, chromedp.CaptureScreenshot())
		check(b.t, err)
		last, err = png.Decode(bytes.NewReader(data))
		check(b.t, err)
		if countColor(last, paperColor) > 1000 {
			return
		}
	}
	b.shoot("failed")
	b.t.Fatalf("no PDF on a screen of %v", last.Bounds())
}

// countColor returns how many points of a picture have nearly a colour.
func countColor(m image.Image, want color.RGBA) (n int) {
	near := func(a uint32, b uint8) bool { d := int(a>>8) - int(b); return -4 < d && d < 4 }
	for y := m.Bounds().Min.Y; y < m.Bounds().Max.Y; y++ {
		for x := m.Bounds().Min.X; x < m.Bounds().Max.X; x++ {
			if r, g, b, _ := m.At(x, y).RGBA(); near(r, want.R) && near(g, want.G) && near(b, want.B) {
				n++
			}
		}
	}
	return n
}

// starts returns where the ranges of a file begin that the server has sent.
func (b *browser) starts(path string) (list []int64) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, note := range b.asked {
		if rest, ok := strings.CutPrefix(note, "206 "+path+" bytes "); ok {
			start, _, _ := strings.Cut(rest, "-")
			n, _ := strconv.ParseInt(start, 10, 64)
			list = append(list, n)
		}
	}
	return list
}

// testMedia plays sounds and films, in their pages and by themselves, from their beginning and from
// near their end, and looks at a PDF.
func testMedia(t *testing.T, b *browser) {
	b.look(1280, "light", true)
	b.open("/")
	b.media("media")
	check(t, b.vol.WriteFile("media/long.wav", wav(120), 0o644))
	for _, address := range []string{"/media/long.wav?view", "/media/long.wav", "/media/film.webm?view", "/media/film.webm"} {
		b.open(address)
		b.wait(`document.querySelector("audio, video")?.readyState >= 1`)
		b.start(`document.querySelector("audio, video")`)
		b.wait(`document.querySelector("audio, video").currentTime > 0.1`)
		name, _, _ := strings.Cut(address, "?")
		if list := b.starts(name); len(list) == 0 {
			t.Errorf("%s: no range was asked for", address)
		}
	}
	b.open("/media/long.wav?view")
	b.wait(`document.querySelector("audio").readyState >= 1`)
	ask[any](b, `document.querySelector("audio").currentTime = 110`)
	b.wait(`!document.querySelector("audio").seeking && document.querySelector("audio").readyState >= 2`)
	if list := b.starts("/media/long.wav"); slices.Max(list) < 110*44100*4-1<<20 {
		t.Errorf("ranges from %d", list)
	}
	for _, address := range []string{"/media/paper.pdf?view", "/media/paper.pdf"} {
		b.open(address)
		paints(b)
	}
}

// start plays what a script finds, as if the reader had pressed the button.
func (b *browser) start(script string) {
	b.t.Helper()
	hand := func(p *runtime.EvaluateParams) { p.UserGesture = new(true) }
	_, err := chromedp.Run(b.tab, chromedp.Evaluate[any](fmt.Sprintf(`(e => { e.muted = true; e.play().catch(() => {}); })(%s)`, script), hand))
	check(b.t, err)
}

// testHostile opens pictures and pages that have scripts: none runs, and no request is made.
func testHostile(t *testing.T, b *browser) {
	const script = `document.documentElement.setAttribute("owned", ""); fetch("/owned"); new Image().src = "/owned"; top.location = "/owned"`
	check(t, b.vol.WriteFile("evil.svg", []byte(`<svg xmlns="http://www.w3.org/2000/svg" width="90" height="60" onload='`+script+`'><script>`+script+`</script>
		<foreignObject width="90" height="60"><body xmlns="http://www.w3.org/1999/xhtml"><iframe src="/owned"/><form action="/owned"/></body></foreignObject><rect width="90" height="60"/></svg>`), 0o644))
	check(t, b.vol.WriteFile("evil.html", []byte(`<!doctype html><p id="text">text<script>`+script+`</script><img src="data:," onerror='`+script+`'><iframe srcdoc='<script>top.location="/owned"</script>'></iframe>
		<meta http-equiv="refresh" content="0; url=/owned">`), 0o644))
	check(t, b.vol.WriteFile("evil.md", []byte("# text\n\n<script>"+script+"</script>\n\n[a](javascript:"+"owned"+") <img src=x onerror='"+script+"'> ![b](/other.svg)\n"), 0o644))
	b.look(1280, "light", true)
	for _, address := range []string{"/evil.svg?view", "/evil.svg", "/evil.html?view", "/evil.html", "/evil.md?view", "/evil.md"} {
		b.open(address)
		b.wait(`document.readyState === "complete"`)
		if ask[bool](b, `document.documentElement.hasAttribute("owned") || !location.pathname.startsWith("/evil")`) {
			t.Errorf("%s: a script ran", address)
		}
	}
	if n := b.count("GET /owned"); n > 0 {
		t.Errorf("%d requests of hostile files", n)
	}
	b.refused("sandbox", "Content Security Policy", "Content-Security-Policy", "Blocked script")
}

// refused forgets what the browser says about what it has refused, which is one of some texts.
func (b *browser) refused(texts ...string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.said = slices.DeleteFunc(b.said, func(what string) bool {
		return slices.ContainsFunc(texts, func(text string) bool { return strings.Contains(what, text) })
	})
}
