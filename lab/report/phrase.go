package report

import (
	"fmt"
	"strings"

	"github.com/foliofs/folio/lab/report/figure"
	"github.com/foliofs/folio/lab/result"
)

// phrases are parameters that read badly as NAME VALUE.
var phrases = map[result.Param]string{
	{Name: "mode", Value: "raw"}:         "raw: prepared each time",
	{Name: "mode", Value: "prepared"}:    "prepared once",
	{Name: "transaction", Value: "each"}: "each read a transaction",
	{Name: "transaction", Value: "one"}:  "all reads in one transaction",
	{Name: "tree", Value: "three"}:       "three files",
	{Name: "tree", Value: "generated"}:   "a generated tree",
	{Name: "cache", Value: "warm"}:       "warm cache",
	{Name: "cache", Value: "cold"}:       "cold cache",
	{Name: "by", Value: "id"}:            "by rowid",
	{Name: "by", Value: "path"}:          "by path",
}

// nouns are numbers that need more than the parameter's name.
var nouns = map[string]string{
	"count": "%s rowids", "size": "%s bytes a file", "large": "a large file of %s bytes", "range": "ranges of %s bytes", "mmap": "mmap_size %s",
	"entries": "%s files",
}

// Phrase says a parameter in words.
func Phrase(p result.Param) string {
	if text := phrases[p]; text != "" {
		return text
	}
	if isNumber(p.Value) {
		if noun := nouns[p.Name]; noun != "" {
			return fmt.Sprintf(noun, figure.Thousands(p.Value))
		}
		if p.Value == "1" {
			return "1 " + strings.TrimSuffix(p.Name, "s")
		}
		return figure.Thousands(p.Value) + " " + p.Name
	}
	if p.Name == "dir" {
		return "on " + p.Value
	}
	return p.Name + " " + p.Value
}

func isNumber(text string) bool {
	return text != "" && strings.Trim(text, "0123456789") == ""
}
