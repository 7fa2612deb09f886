package exporter

import (
	"github.com/foliofs/folio"
	"github.com/foliofs/folio/cmd/folio/internal/failure"
	"github.com/foliofs/folio/cmd/folio/internal/overlay"
)

// A KeptError says that a volume keeps only the changes of an overlay.
type KeptError struct{ Base string }

func (e *KeptError) Error() string { return "keeps only what an overlay has changed in " + e.Base }

// view calls fn with a view of the tree to export.
func (e *Export) view(fn func(rx *folio.Rx) error) error {
	if e.Base == "" {
		return e.loc.View(e.ctx, fn)
	}
	return overlay.ViewOf(e.ctx, e.loc, e.Base, fn)
}

// warnKept warns if the volume keeps the changes of an overlay and the base is not named: files may
// have parts of their contents only.
func (e *Export) warnKept() error {
	if e.Base != "" {
		return nil
	}
	base, err := overlay.Told(e.rx)
	if err == nil && base != "" {
		e.Warn(failure.Rehint(failure.At(e.loc.Tree(), &KeptError{base}), "--base TREE exports what it shows"))
	}
	return err
}
