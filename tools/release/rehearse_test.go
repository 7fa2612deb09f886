package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestCompare compares the files of two runs, of which one differs in a byte, and one is missing.
func TestCompare(t *testing.T) {
	make := func(files map[string]string) string {
		r := &release{dist: t.TempDir()}
		for name, content := range files {
			path := filepath.Join(r.dist, name)
			if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		if err := r.writeSums(); err != nil {
			t.Fatal(err)
		}
		return r.dist
	}
	files := map[string]string{"a.deb": "a", "proxy/a.zip": "z"}
	first := make(files)
	if err := compare(first, make(files)); err != nil {
		t.Error(err)
	}
	for name, other := range map[string]map[string]string{
		"byte": {"a.deb": "b", "proxy/a.zip": "z"}, "missing": {"proxy/a.zip": "z"}, "more": {"a.deb": "a", "a.rpm": "r", "proxy/a.zip": "z"}, "none": {},
	} {
		if err := compare(first, make(other)); err == nil || strings.Contains(err.Error(), "a.zip") && name != "none" {
			t.Errorf("%s: %v", name, err)
		}
	}
	if err := compare(make(nil), make(nil)); err == nil {
		t.Error("two runs that make nothing are not a release")
	}
}
