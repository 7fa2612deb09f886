package match

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// naive gives every line to the regular expression.
func naive(re *regexp.Regexp, text []byte) (lines []string) {
	for line := range bytes.Lines(text) {
		if line = bytes.TrimSuffix(line, newline); re.Match(line) {
			lines = append(lines, string(line))
		}
	}
	return lines
}

// find returns the lines that a Searcher finds.
func find(t testing.TB, p *Pattern, text []byte) (lines []string) {
	t.Helper()
	err := NewSearcher(p, false).Search(bytes.NewReader(text), func(l *Line) error {
		lines = append(lines, string(l.Text))
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return lines
}

func compare(t testing.TB, pattern string, text []byte, o Options) {
	t.Helper()
	p, err := Compile([]string{pattern}, o)
	if err != nil {
		return
	}
	if got, want := find(t, p, text), naive(p.re, text); !slices.Equal(got, want) {
		t.Errorf("%q, %+v: found %q, want %q, in %q", pattern, o, got, want, text)
	}
}

var someTexts = []string{
	"", "\n", "\n\n", "a", "a\n", "no\nnewline", "K\u212ak\ns\u017fS\n", "\xff\xfe\n\ufffd\n", "foo\nFOO\nfOo bar\n", "aaa\n\nbbb",
	"x=1\r\ny=2\r\n", "\x00\x01\nfoo\x00bar\n", "É\né\n",
}

var somePatterns = []string{
	"", "^$", "a", "foo|bar", "(?i)foo", "k", "s", "^a+$", "fo+", "(foo)+", "f(o|x)o", "[Ff]oo", "x{0}", "(a|b|)", ".", "\\bfoo\\b", "\n", "a\nb",
	"é", "\ufffd", "(?m)^b", "(?i)é", "a|b|c|d|e|f|g|h|i|j", "\\x00", "(?s)a.b", "foo.*bar", "(?i)mistake|basket",
}

// What is found does not depend on how it is searched for.
func TestPatterns(t *testing.T) {
	t.Parallel()
	for _, pattern := range somePatterns {
		for _, text := range someTexts {
			for _, o := range []Options{{}, {IgnoreCase: true}, {Fixed: true}, {IgnoreCase: true, Fixed: true}} {
				compare(t, pattern, []byte(text), o)
			}
		}
	}
}

func FuzzPattern(f *testing.F) {
	for i, pattern := range somePatterns {
		f.Add(pattern, []byte(someTexts[i%len(someTexts)]), i%2 == 0)
	}
	f.Fuzz(func(t *testing.T, pattern string, text []byte, fold bool) {
		compare(t, pattern, text, Options{IgnoreCase: fold})
	})
}

func TestRandomPatterns(t *testing.T) {
	t.Parallel()
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	r := rand.New(rand.NewPCG(seed, 0))
	parts := []string{"a", "b", "k", "S", "ab", "bak", "(", ")", "|", "*", "+", "?", "[ab]", ".", "^", "$", "é", "\u212a", "ſ", "{2}"}
	letters := []string{"a", "b", "A", "B", "k", "K", "\u212a", "s", "S", "ſ", "é", "É", "\n", "\n", "ab", "bak", "\xff", " "}
	pick := func(list []string, n int) string {
		var b strings.Builder
		for range n {
			b.WriteString(list[r.IntN(len(list))])
		}
		return b.String()
	}
	for range 20000 {
		compare(t, pick(parts, 1+r.IntN(6)), []byte(pick(letters, r.IntN(60))), Options{IgnoreCase: r.IntN(2) == 0})
	}
}

func TestRequired(t *testing.T) {
	t.Parallel()
	tests := []struct {
		pattern, want string // literals, and = if they are exact
	}{
		{"foo", "foo="},
		{"(foo)", "foo="},
		{"foo|bar", "foo bar="},
		{"fo*", "f"},
		{"a.*longer", "longer"},
		{"(abc)+", "abc"},
		{"(abc)?", ""},
		{"x{2,}", "x"},
		{"[a-z]+Error", "Error"},
		{"(?i)FOO", "foo="},
		{"(?i)basket", "ba"},
		{"(?i)123", "123="},
		{"a\nb", "a"},
		{"^$", ""},
		{"a|b*", ""},
		{"0a|1b|2c|3d|4e|5f|6g|7h|8i", ""},
	}
	for _, tt := range tests {
		p, err := Compile([]string{tt.pattern}, Options{})
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, l := range p.literals {
			got = append(got, string(l.text))
		}
		if text := strings.Join(got, " ") + map[bool]string{true: "="}[p.exact]; text != tt.want {
			t.Errorf("%q: %q, want %q", tt.pattern, text, tt.want)
		}
	}
}

// Lines that lie across the ends of buffers come out whole, with their numbers.
func TestNumbers(t *testing.T) {
	t.Parallel()
	var text bytes.Buffer
	for i := 1; text.Len() < 5*bufferSize; i++ {
		fmt.Fprintf(&text, "line %d %s\n", i, strings.Repeat("x", i%300))
	}
	p, err := Compile([]string{"^line [0-9]*7 "}, Options{})
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	err = NewSearcher(p, true).Search(bytes.NewReader(text.Bytes()), func(l *Line) error {
		n++
		if want := fmt.Sprintf("line %d %s", l.Number, strings.Repeat("x", int(l.Number%300))); string(l.Text) != want || l.Number%10 != 7 {
			t.Errorf("%d: %q", l.Number, l.Text)
		}
		return nil
	})
	if total := bytes.Count(text.Bytes(), newline); err != nil || n < total/10 || n > total/10+1 {
		t.Errorf("%d lines of %d, %v", n, total, err)
	}
}

// A repeated reads as the same part again and again.
type repeated struct {
	part string
	size int64
}

func (r repeated) ReadAt(p []byte, off int64) (n int, err error) {
	for n < len(p) && off < r.size {
		m := copy(p[n:min(int64(len(p)), int64(n)+r.size-off)], r.part[off%int64(len(r.part)):])
		n, off = n+m, off+int64(m)
	}
	if n < len(p) {
		err = io.EOF
	}
	return n, err
}

// A text of any size takes little memory, even if it is one line.
func TestMemory(t *testing.T) {
	t.Parallel()
	p, err := Compile([]string{"needle"}, Options{})
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		part   string
		buffer int
	}{{strings.Repeat("hay\n", 1000), bufferSize}, {strings.Repeat("hay ", 1000), maxLine}} {
		s := NewSearcher(p, false)
		err := s.Search(repeated{tt.part, 3*maxLine + 5}, func(l *Line) error { return errors.New("found something") })
		if err != nil || len(s.buf) > tt.buffer {
			t.Errorf("%v, %d bytes of memory", err, len(s.buf))
		}
	}
}

func TestSearchStops(t *testing.T) {
	t.Parallel()
	p, err := Compile([]string{"a"}, Options{})
	if err != nil {
		t.Fatal(err)
	}
	own, n := errors.New("own"), 0
	err = NewSearcher(p, true).Search(strings.NewReader("a\na\n"), func(l *Line) error { n++; return own })
	if !errors.Is(err, own) || n != 1 {
		t.Errorf("%d lines, %v", n, err)
	}
	err = NewSearcher(p, true).Search(failing{own}, func(l *Line) error { return nil })
	if !errors.Is(err, own) {
		t.Errorf("%v", err)
	}
}

type failing struct{ err error }

func (f failing) ReadAt([]byte, int64) (int, error) { return 0, f.err }

func TestBinary(t *testing.T) {
	t.Parallel()
	p, err := Compile([]string{"a"}, Options{})
	if err != nil {
		t.Fatal(err)
	}
	for text, want := range map[string]bool{
		"a": false, "a\x00": true, "\x00\na": true, strings.Repeat("a", binarySize-1) + "\x00": true, strings.Repeat("a", binarySize) + "\x00": false,
	} {
		_ = NewSearcher(p, false).Search(strings.NewReader(text), func(l *Line) error {
			if l.Binary != want {
				t.Errorf("%.10q of %d bytes: binary is %t", text, len(text), l.Binary)
			}
			return io.EOF
		})
	}
}
