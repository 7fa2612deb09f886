package main

import (
	"context"
	"os"
	"path/filepath"
	"runtime"
)

// shells are those for which there are completions, by the names of the files.
var shells = []struct{ shell, file, installed string }{
	{"bash", "folio.bash", "/usr/share/bash-completion/completions/folio"},
	{"zsh", "_folio", "/usr/share/zsh/vendor-completions/_folio"},
	{"fish", "folio.fish", "/usr/share/fish/vendor_completions.d/folio.fish"},
	{"powershell", "folio.ps1", ""},
}

func (r *release) manPages() string    { return filepath.Join(r.staging, "man") }
func (r *release) completions() string { return filepath.Join(r.staging, "completions") }

// writePages lets the command write its man pages and completions. For that it is built for this
// system.
func (r *release) writePages(ctx context.Context) error {
	for _, dir := range []string{r.manPages(), r.completions()} {
		if err := os.MkdirAll(dir, 0o755); err != nil {
			return err
		}
	}
	pages := filepath.Join(r.staging, "pages"+map[string]string{"windows": ".exe"}[runtime.GOOS])
	if _, err := r.gotool(ctx, r.env, "build", "-trimpath", "-tags=man", "-o", pages, "./cmd/folio"); err != nil {
		return err
	}
	if _, err := output(ctx, r.dir, nil, pages, r.manPages(), r.version, r.made.Format("2006-01-02")); err != nil {
		return err
	}
	for _, s := range shells {
		text, err := output(ctx, r.dir, nil, pages, "completion", s.shell)
		if err != nil {
			return err
		}
		if err := os.WriteFile(filepath.Join(r.completions(), s.file), []byte(text+"\n"), 0o644); err != nil {
			return err
		}
	}
	return nil
}
