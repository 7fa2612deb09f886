package value

import (
	"encoding/base64"
	"encoding/json"
	"io"
	"time"
	"unicode/utf8"
)

// A JSONPath is a path in the volume.
type JSONPath struct {
	Path JSONText `json:"path"`
}

// JSONPathOf is a path as JSON.
func JSONPathOf(name string) JSONPath { return JSONPath{JSONText(name)} }

// A JSONText is bytes that are mostly, but not always, UTF-8: a string, or else an object with the
// field base64.
type JSONText string

func (t JSONText) MarshalJSON() ([]byte, error) {
	if utf8.ValidString(string(t)) {
		return json.Marshal(string(t))
	}
	return json.Marshal(map[string]string{"base64": base64.StdEncoding.EncodeToString([]byte(t))})
}

// JSONTime is a time in nanoseconds since 1970 as JSON has it: in UTC, by RFC 3339.
func JSONTime(ns int64) string { return time.Unix(0, ns).UTC().Format(time.RFC3339Nano) }

// WriteJSON writes v as one line.
func WriteJSON(w io.Writer, v any) error {
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	return enc.Encode(v)
}
