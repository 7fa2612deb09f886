package serve

import (
	"mime"
	"net/http"
	"path"
	"strings"
)

// contentTypes has the types of names that systems disagree about, or that must be harmless.
var contentTypes = map[string]string{
	".js": textType, ".mjs": textType, ".cjs": textType, ".md": textType, ".txt": textType, ".go": textType, ".log": textType, ".wasm": "application/octet-stream",
	".html": "text/html; charset=utf-8", ".htm": "text/html; charset=utf-8", ".css": "text/css; charset=utf-8", ".json": "application/json",
	".svg": "image/svg+xml", ".png": "image/png", ".jpg": "image/jpeg", ".jpeg": "image/jpeg", ".gif": "image/gif", ".webp": "image/webp", ".avif": "image/avif", ".ico": "image/x-icon",
	".pdf": "application/pdf", ".mp3": "audio/mpeg", ".ogg": "audio/ogg", ".oga": "audio/ogg", ".opus": "audio/ogg", ".wav": "audio/wav", ".flac": "audio/flac", ".m4a": "audio/mp4",
	".mp4": "video/mp4", ".m4v": "video/mp4", ".webm": "video/webm", ".ogv": "video/ogg", ".mov": "video/quicktime", ".mkv": "video/x-matroska", ".vtt": "text/vtt; charset=utf-8",
	".zip": "application/zip", ".tar": "application/x-tar", ".gz": "application/gzip", ".xml": "text/xml; charset=utf-8",
	".appcache": textType, ".webmanifest": textType,
}

const textType = "text/plain; charset=utf-8"

// isTypedName reports whether typeOf needs no more than a name.
func isTypedName(name string) bool {
	ext := strings.ToLower(path.Ext(name))
	return contentTypes[ext] != "" || mime.TypeByExtension(ext) != ""
}

// typeOf returns the type of a file by its name, or by its first bytes.
func typeOf(name string, data []byte) string {
	ext := strings.ToLower(path.Ext(name))
	if t, ok := contentTypes[ext]; ok {
		return t
	}
	t := mime.TypeByExtension(ext)
	if strings.Contains(t, "script") {
		return textType
	}
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
