package main

import (
	"encoding/base64"
	"encoding/json"
	"io"
	"time"
	"unicode/utf8"
)

// A jsonPath is a path in the volume.
type jsonPath struct {
	Path jsonText `json:"path"`
}

// jsonPathOf is a path as JSON.
func jsonPathOf(name string) jsonPath { return jsonPath{jsonText(name)} }

// A jsonText is bytes that are mostly, but not always, UTF-8: a string, or else an object with the
// field base64.
type jsonText string

func (t jsonText) MarshalJSON() ([]byte, error) {
	if utf8.ValidString(string(t)) {
		return json.Marshal(string(t))
	}
	return json.Marshal(map[string]string{"base64": base64.StdEncoding.EncodeToString([]byte(t))})
}

func jsonTime(ns int64) string { return time.Unix(0, ns).UTC().Format(time.RFC3339Nano) }

// writeJSON writes v as one line.
func writeJSON(w io.Writer, v any) error {
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	return enc.Encode(v)
}
