package page

import (
	"bytes"
	"net/http"
	"path"
	"strings"
	"unicode/utf8"
)

// A kind says how a page shows a file.
type kind string

const (
	kindText     kind = "text"
	kindMarkdown kind = "markdown"
	kindImage    kind = "image"
	kindAudio    kind = "audio"
	kindVideo    kind = "video"
	kindPDF      kind = "pdf"
	kindArchive  kind = "archive"
	kindBinary   kind = "binary"
	kindTable    kind = "table"
	kindUnknown  kind = "" // its content tells
)

// kinds maps endings of names to kinds. Browsers show these images; others are offered for
// download.
var kinds = func() map[string]kind {
	m := make(map[string]kind)
	for k, extensions := range map[kind]string{
		kindMarkdown: "md markdown mdown",
		kindImage:    "png jpg jpeg gif webp avif svg bmp ico apng",
		kindAudio:    "mp3 ogg oga opus wav flac m4a aac weba",
		kindVideo:    "mp4 webm ogv m4v mov",
		kindPDF:      "pdf",
		kindArchive:  "zip tar gz tgz bz2 xz zst 7z rar jar deb rpm iso",
	} {
		for extension := range strings.FieldsSeq(extensions) {
			m["."+extension] = k
		}
	}
	return m
}()

// kindOf returns the kind of a file by its name.
func kindOf(name string) kind { return kinds[strings.ToLower(path.Ext(name))] }

// icon returns the name of the picture of a kind.
func (k kind) icon() kind {
	switch k {
	case kindUnknown, kindMarkdown, kindText, kindBinary:
		return "file"
	}
	return k
}

// kindOfContent tells text from other contents by the first bytes.
func kindOfContent(head []byte) kind {
	if bytes.IndexByte(head, 0) >= 0 {
		return kindBinary
	}
	if utf8.Valid(head) || strings.HasPrefix(http.DetectContentType(head), "text/") {
		return kindText
	}
	if trimmed := trimRune(head); utf8.Valid(trimmed) {
		return kindText
	}
	return kindBinary
}

// trimRune cuts the character off that the end of a buffer has cut through.
func trimRune(b []byte) []byte {
	for i := 1; i <= min(utf8.UTFMax, len(b)); i++ {
		if c := b[len(b)-i]; utf8.RuneStart(c) {
			if !utf8.FullRune(b[len(b)-i:]) {
				return b[:len(b)-i]
			}
			return b
		}
	}
	return b
}
