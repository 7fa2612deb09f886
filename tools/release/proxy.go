package main

import (
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"time"

	"golang.org/x/mod/module"
	"golang.org/x/mod/zip"
)

// proxy is the directory of the release that serves the module as a proxy does: GOPROXY=file://...
func (r *release) proxy() string { return filepath.Join(r.dist, "proxy") }

// writeProxy writes the module. Its zip is the one that every proxy would make of the tag.
func (r *release) writeProxy() error {
	dir := filepath.Join(r.proxy(), filepath.FromSlash(modulePath), "@v")
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	info, err := json.Marshal(struct {
		Version string
		Time    time.Time
	}{r.version, r.made})
	if err != nil {
		return err
	}
	text, err := os.ReadFile(filepath.Join(r.source, "go.mod"))
	if err != nil {
		return err
	}
	for name, content := range map[string][]byte{"list": []byte(r.version + "\n"), r.version + ".info": info, r.version + ".mod": text} {
		if err := os.WriteFile(filepath.Join(dir, name), content, 0o644); err != nil {
			return err
		}
	}
	return create(filepath.Join(dir, r.version+".zip"), func(w io.Writer) error {
		return zip.CreateFromVCS(w, module.Version{Path: modulePath, Version: r.version}, r.source, r.commit, "")
	})
}
