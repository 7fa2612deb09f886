package location

import (
	"github.com/foliofs/folio"
	"github.com/foliofs/folio/cmd/folio/internal/failure"
)

// Into checks that a number of sources can go to dest. into reports whether they go into it.
func Into(rx *folio.Rx, dest *Operand, exact bool, sources int) (into bool, err error) {
	there := IsDir(rx, dest.Path)
	if into = !exact && there; into || sources == 1 && (there || !dest.Inside) {
		return into, nil
	}
	_, err = rx.Stat(dest.Path)
	if err == nil {
		err = folio.ErrNotDirectory
	}
	if err = dest.Fail(err); sources == 1 {
		return false, err
	}
	return false, failure.Hint(err, failure.SeveralFiles)
}
