package dav_test

import (
	"encoding/binary"
	"net/http"
	"strings"
	"testing"
	"unicode/utf16"

	"github.com/foliofs/folio/adapter/dav"
	"github.com/foliofs/folio/adapter/internal/volumes"
)

// in16 returns a text in UTF-16.
func in16(order binary.AppendByteOrder, text string) string {
	var b []byte
	for _, unit := range utf16.Encode([]rune(text)) {
		b = order.AppendUint16(b, unit)
	}
	return string(b)
}

// TestEncodings sends the same request in all encodings that processors of XML know, and in some
// that they need not know (RFC 4918, section 8.2).
func TestEncodings(t *testing.T) {
	h := dav.NewHandler(volumes.New(t), nil)
	must(t, h, http.StatusCreated, "PUT", "/a", "text")
	set := func(encoding string) string {
		declaration := ""
		if encoding != "" {
			declaration = `<?xml version="1.0" encoding="` + encoding + `"?>` + "\n"
		}
		return declaration + strings.Replace(setAuthor, "%s", "J\u00fcrgen \U0001F600", 1)
	}
	for name, body := range map[string]string{
		"no declaration": set(""), "UTF-8": set("UTF-8"), "utf-8": set("utf-8"), "a mark": "\uFEFF" + set("utf-8"), "single quotes": strings.Replace(set("utf-8"), `"utf-8"`, "'utf-8'", 1),
		"big": in16(binary.BigEndian, "\uFEFF"+set("UTF-16")), "little": in16(binary.LittleEndian, "\uFEFF"+set("utf-16")),
		"no mark": in16(binary.BigEndian, set("UTF-16BE")), "no mark, little": in16(binary.LittleEndian, set("utf-16le")), "a mark only": in16(binary.LittleEndian, "\uFEFF"+set("")),
	} {
		must(t, h, http.StatusMultiStatus, "PROPPATCH", "/a", unset)
		must(t, h, http.StatusMultiStatus, "PROPPATCH", "/a", body)
		if !hasAuthor(t, h, "/a", "J\u00fcrgen \U0001F600") {
			t.Errorf("%s: another value", name)
		}
	}
	must(t, h, http.StatusMultiStatus, "PROPFIND", "/a", in16(binary.LittleEndian, "\uFEFF"+find))
	lock := must(t, h, http.StatusOK, "LOCK", "/a", in16(binary.BigEndian, "\uFEFF"+strings.Replace(lockBody, "SCOPE", "exclusive", 1))).Header().Get("Lock-Token")
	must(t, h, http.StatusNoContent, "UNLOCK", "/a", "", "Lock-Token", lock)
	for name, refused := range map[string]struct {
		body   string
		status int
	}{
		"Latin 1": {set("ISO-8859-1"), 415}, "another name": {set("utf-16"), 415}, "half a character": {in16(binary.BigEndian, "\uFEFF"+set(""))[1:], 400},
		"an odd byte": {in16(binary.BigEndian, "\uFEFF"+set("")) + "x", 400}, "EBCDIC": {"\x4c\x6f\xa7\x94\x93", 400}, "UTF-32": {"\x00\x00\xfe\xff\x00\x00\x00<", 400},
	} {
		w := do(h, "PROPPATCH", "/a", refused.body)
		if w.Code != refused.status || strings.Count(strings.TrimSpace(w.Body.String()), "\n") > 0 {
			t.Errorf("%s: %d %q", name, w.Code, w.Body)
		}
	}
}
