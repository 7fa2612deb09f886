package pager

import (
	"bytes"
	"fmt"
	"io"
	"io/fs"

	"github.com/foliofs/folio/internal/dberr"
	"github.com/foliofs/folio/internal/osfile"
)

// maxDrafts is how many names there are for the copy that Compact makes.
const maxDrafts = 9

// freeDraft returns the suffix of a name for the copy. It removes the copy that a crash has left,
// if that was not complete.
func (r *replacer) freeDraft() (string, error) {
	for i := 1; i <= maxDrafts; i++ {
		suffix := CompactSuffix
		if i > 1 {
			suffix = fmt.Sprintf("%s-%d", CompactSuffix, i)
		}
		if free, err := r.removeDraft(suffix); free || err != nil {
			return suffix, err
		}
	}
	return "", fmt.Errorf("%w: there are files with all names of the form NAME%s: remove what is not needed", fs.ErrExist, CompactSuffix)
}

// removeDraft reports whether a suffix is free, and makes it so if a copy has it that a crash has
// left. Page 1 is written last (O1), so a copy that was not complete begins with
// zeros. A file that does not may be the user's: a backup, for example.
func (r *replacer) removeDraft(suffix string) (free bool, err error) {
	size, there, err := r.pager.options.System.SideExists(r.pager.file, suffix)
	if err != nil || !there {
		return err == nil, err
	}
	if size > 0 {
		if begun, err := r.begunDraft(suffix); !begun || err != nil {
			return false, err
		}
	}
	return true, dberr.IgnoreMissing(r.pager.options.System.Remove(r.pager.file.Name() + suffix))
}

// begunDraft reports whether a file is a copy that was begun.
func (r *replacer) begunDraft(suffix string) (bool, error) {
	file, err := r.pager.options.System.OpenSide(r.pager.file, suffix, osfile.ReadWrite)
	if err != nil {
		return false, err
	}
	page1 := make([]byte, r.pager.writer.base.Header.PageSize)
	n, err := file.ReadAt(page1, 0)
	if err == io.EOF {
		err = nil
	}
	return bytes.Count(page1[:n], []byte{0}) == n, dberr.Join(err, file.Close())
}
