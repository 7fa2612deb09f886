package main

import (
	"github.com/foliofs/folio"
)

// destIn checks that a number of sources can go to dest. into reports whether they go into it.
func destIn(rx *folio.Rx, dest *operand, exact bool, sources int) (into bool, err error) {
	there := isDir(rx, dest.path)
	if into = !exact && there; into || sources == 1 && (there || !dest.inside) {
		return into, nil
	}
	_, err = rx.Stat(dest.path)
	if err == nil {
		err = folio.ErrNotDirectory
	}
	if err = dest.fail(err); sources == 1 {
		return false, err
	}
	return false, hint(err, severalFiles)
}
