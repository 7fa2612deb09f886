package serve

import (
	"net/http"
	"path"
	"strings"

	"github.com/foliofs/folio/internal/mediatype"
)

// contentTypes maps names to types if the type must be harmless, or is read as text.
var contentTypes = map[string]string{
	".wasm": "application/octet-stream", ".md": textType, ".markdown": textType, ".appcache": textType, ".webmanifest": textType,
}

const textType = "text/plain; charset=utf-8"

// typeOfName returns the type that a name tells, and "" if it tells none.
func typeOfName(name string) string {
	if t, ok := contentTypes[strings.ToLower(path.Ext(name))]; ok {
		return t
	}
	t := mediatype.Of(name)
	if strings.Contains(t, "script") {
		return textType
	}
	return t
}

// isTypedName reports whether typeOf needs no more than a name.
func isTypedName(name string) bool { return typeOfName(name) != "" }

// typeOf returns the type of a file by its name, or by its first bytes.
func typeOf(name string, data []byte) string {
	t := typeOfName(name)
	if t == "" && data != nil {
		t = http.DetectContentType(data[:min(len(data), 512)])
	}
	if t == "" {
		t = "application/octet-stream"
	}
	return t
}

// compressible reports whether contents of a type are texts.
func compressible(contentType string) bool {
	return strings.HasPrefix(contentType, "text/") || strings.HasPrefix(contentType, "image/svg") || contentType == "application/json" || strings.HasSuffix(contentType, "+xml")
}
