package page

import (
	"bytes"
	"embed"
	"html"
	"html/template"
	"io/fs"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/alecthomas/chroma/v2"
)

// maxHighlight is the longest text that is highlighted, and highlightTime is how long that may
// take: the rules of languages are regular expressions that track back. A text that takes longer
// is plain from there on.
const (
	maxHighlight  = 512 << 10
	highlightTime = 300 * time.Millisecond
)

// Rules of languages, as chroma has them. The package of all of chroma's languages is four times as
// large, and would take 4 ms at the start of each command.
//
//go:embed lexers/*.xml
var lexerFiles embed.FS

// lexers maps names to languages. Their rules are read when a text is in that language.
var lexers = sync.OnceValue(func() *chroma.LexerRegistry {
	registry := chroma.NewLexerRegistry()
	registry.Register(goLexer())
	names, err := fs.Glob(lexerFiles, "lexers/*.xml")
	if err != nil {
		panic(err) // the pattern is right
	}
	for _, name := range names {
		registry.Register(chroma.MustNewXMLLexer(lexerFiles, name))
	}
	return registry
})

// highlight returns a text as HTML, a line for each of its lines. They have numbers unless bare
// says otherwise. language is "" if it is not known.
func highlight(name string, text []byte, bare bool) (page template.HTML, language string, lines int) {
	text = bytes.ReplaceAll(text, []byte("\r\n"), []byte("\n"))
	l := lineWriter{bare: bare}
	l.buffer.Grow(3 * len(text))
	rest := string(bytes.ToValidUTF8(text, []byte("\uFFFD")))
	if lexer := lexerOf(name); lexer != nil && len(text) <= maxHighlight {
		language = lexer.Config().Name
		rest = l.tokens(chroma.Coalesce(lexer), rest)
	}
	l.write("", rest)
	return template.HTML(l.end()), language, l.lines
}

// lexerOf returns the rules for a file of that name, or nil.
func lexerOf(name string) chroma.Lexer {
	if lexer := lexers().Match(name); lexer != nil {
		return lexer
	}
	return lexers().Match(strings.ToLower(name))
}

// tokens writes a text in a language, and returns the part that took too long.
func (l *lineWriter) tokens(lexer chroma.Lexer, text string) (rest string) {
	next, err := lexer.Tokenise(&chroma.TokeniseOptions{State: "root"}, text)
	if err != nil {
		return text
	}
	deadline := time.Now().Add(highlightTime)
	for t := next(); t != chroma.EOF; t = next() {
		// The lexer hands the text out in parts. If it has lost some of it, the rest is plain.
		part, ok := strings.CutPrefix(text, t.Value)
		if !ok || time.Now().After(deadline) {
			return text
		}
		l.write(class(t.Type), t.Value)
		text = part
	}
	return text
}

// class returns the class of the style sheet for a token.
func class(t chroma.TokenType) string {
	switch {
	case t.InSubCategory(chroma.CommentPreproc):
		return "hp"
	case t.InCategory(chroma.Comment):
		return "hc"
	case t == chroma.KeywordType:
		return "ht"
	case t.InCategory(chroma.Keyword), t == chroma.OperatorWord:
		return "hk"
	case t.InSubCategory(chroma.LiteralString):
		return "hs"
	case t.InSubCategory(chroma.LiteralNumber), t == chroma.KeywordConstant:
		return "hn"
	case t == chroma.NameFunction, t == chroma.NameFunctionMagic, t == chroma.NameClass, t == chroma.NameTag:
		return "hf"
	case t == chroma.NameAttribute, t == chroma.NameDecorator, t == chroma.NameBuiltin, t == chroma.NameVariable:
		return "ha"
	case t == chroma.GenericInserted:
		return "gi"
	case t == chroma.GenericDeleted:
		return "gd"
	case t == chroma.GenericHeading, t == chroma.GenericSubheading:
		return "gh"
	}
	return ""
}

// A lineWriter writes each line of a text as an element with a number to link to.
type lineWriter struct {
	buffer strings.Builder
	lines  int
	inside bool // a line has begun
	bare   bool // lines have no numbers
}

// write adds text of one class, which may end lines.
func (l *lineWriter) write(class, text string) {
	for text != "" {
		line, rest, ended := strings.Cut(text, "\n")
		l.begin()
		if class != "" && line != "" {
			l.buffer.WriteString(`<span class="` + class + `">`)
		}
		l.buffer.WriteString(html.EscapeString(line))
		if class != "" && line != "" {
			l.buffer.WriteString(`</span>`)
		}
		if ended {
			l.finish()
		}
		text = rest
	}
}

// begin begins a line, unless there is one.
func (l *lineWriter) begin() {
	if l.inside {
		return
	}
	l.lines++
	l.inside = true
	if l.bare {
		return
	}
	n := strconv.Itoa(l.lines)
	l.buffer.WriteString(`<span class="line" id="L` + n + `"><a href="#L` + n + `" tabindex="-1" aria-label="Line ` + n + `" data-n="` + n + `"></a>`)
}

func (l *lineWriter) finish() {
	l.buffer.WriteByte('\n')
	if !l.bare {
		l.buffer.WriteString("</span>")
	}
	l.inside = false
}

// end ends the last line, and returns all of them.
func (l *lineWriter) end() string {
	if l.inside {
		l.finish()
	}
	return l.buffer.String()
}
