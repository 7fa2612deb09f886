package dav

import (
	"bytes"
	"encoding/binary"
	"errors"
	"net/http"
	"strings"
	"unicode/utf16"
)

var errEncoding = errors.New("XML is taken in UTF-8 and in UTF-16")

// inUTF8 returns XML in UTF-8, without a byte order mark and without a declaration. It may be in
// UTF-16, which every processor of XML reads (RFC 4918, section 8.2). The error is a *Refusal.
func inUTF8(text []byte) ([]byte, error) {
	var order binary.ByteOrder
	switch {
	case bytes.HasPrefix(text, []byte{0xFE, 0xFF}), bytes.HasPrefix(text, []byte{0, '<'}):
		order = binary.BigEndian
	case bytes.HasPrefix(text, []byte{0xFF, 0xFE}), bytes.HasPrefix(text, []byte{'<', 0}):
		order = binary.LittleEndian
	}
	if order != nil {
		if len(text)%2 != 0 {
			return nil, refuse(errEncoding, http.StatusBadRequest)
		}
		units := make([]uint16, len(text)/2)
		for i := range units {
			units[i] = order.Uint16(text[2*i:])
		}
		text = []byte(string(utf16.Decode(units)))
	}
	text = bytes.TrimPrefix(text, []byte("\uFEFF"))
	return withoutDeclaration(text, order != nil)
}

// withoutDeclaration removes an XML declaration, which names the encoding that the text had.
func withoutDeclaration(text []byte, was16 bool) ([]byte, error) {
	if !bytes.HasPrefix(text, []byte("<?xml")) {
		return text, nil
	}
	declaration, rest, ok := bytes.Cut(text, []byte("?>"))
	if !ok {
		return text, nil // package xml returns the error
	}
	_, encoding, named := strings.Cut(string(declaration), "encoding")
	encoding = strings.ToLower(strings.Trim(encoding, " \t\r\n='\""))
	if end := strings.IndexAny(encoding, "'\""); end >= 0 {
		encoding = encoding[:end]
	}
	switch {
	case !named, encoding == "utf-8", encoding == "us-ascii", strings.HasPrefix(encoding, "utf-16") && was16:
		return rest, nil
	}
	return nil, refuse(errEncoding, http.StatusUnsupportedMediaType)
}
