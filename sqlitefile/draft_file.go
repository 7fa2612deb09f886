package sqlitefile

import (
	"bytes"
	"fmt"
	"io"
	"io/fs"

	"github.com/foliofs/folio/internal/osfile"
)

// maxDrafts is how many names there are for the copy that Compact makes.
const maxDrafts = 9

// freeDraft returns the suffix of a name for the copy. It removes the copy that a crash has left,
// if that was not complete.
func (db *DB) freeDraft() (string, error) {
	for i := 1; i <= maxDrafts; i++ {
		suffix := compactSuffix
		if i > 1 {
			suffix = fmt.Sprintf("%s-%d", compactSuffix, i)
		}
		if free, err := db.removeDraft(suffix); free || err != nil {
			return suffix, err
		}
	}
	return "", fmt.Errorf("%w: there are files with all names of the form NAME%s: remove what is not needed", fs.ErrExist, compactSuffix)
}

// removeDraft reports whether a suffix is free, and makes it so if a copy has it that a crash has
// left. Page 1 is the last one that is written (O1), so a copy that was not complete begins with
// zeros. A file that does not may be the user's: a backup, for example.
func (db *DB) removeDraft(suffix string) (free bool, err error) {
	size, there, err := db.options.system.SideExists(db.file, suffix)
	if err != nil || !there {
		return err == nil, err
	}
	if size > 0 {
		if begun, err := db.begunDraft(suffix); !begun || err != nil {
			return false, err
		}
	}
	return true, ignoreMissing(db.options.system.Remove(db.file.Name() + suffix))
}

// begunDraft reports whether a file is a copy that was begun.
func (db *DB) begunDraft(suffix string) (bool, error) {
	file, err := db.options.system.OpenSide(db.file, suffix, osfile.ReadWrite)
	if err != nil {
		return false, err
	}
	page1 := make([]byte, db.writer.base.header.PageSize)
	n, err := file.ReadAt(page1, 0)
	if err == io.EOF {
		err = nil
	}
	return bytes.Count(page1[:n], []byte{0}) == n, join(err, file.Close())
}
