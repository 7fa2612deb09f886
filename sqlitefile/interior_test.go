package sqlitefile

import (
	"fmt"
	"slices"
	"sync"
	"testing"
)

// TestInteriorCount searches an index by many goroutines at once: what the interior cache has
// counted is what it holds.
func TestInteriorCount(t *testing.T) {
	t.Parallel()
	const rows = 20_000
	path := build(t, &BuildOptions{PageSize: 512}, []string{"CREATE TABLE t (a INTEGER PRIMARY KEY, b TEXT UNIQUE)"}, func(b *Builder) error {
		w, err := b.Table("t")
		for i := range rows {
			if err == nil {
				err = w.Append(int64(i), nil, fmt.Sprintf("%08d", i))
			}
		}
		return err
	})
	for _, plain := range []bool{false, true} {
		db := open(t, path, &Options{NoMmap: plain})
		err := db.View(t.Context(), func(rx *Rx) error { return searchTogether(t, rx, rows) })
		if err != nil {
			t.Error(err)
		}
	}
}

// searchTogether looks for keys by eight goroutines, each in a view of its own, and compares the
// interior cache with what it has counted.
func searchTogether(t *testing.T, rx *Rx, rows int) error {
	var wg sync.WaitGroup
	errs := make([]error, 8)
	start := make(chan struct{})
	for g := range errs {
		wg.Go(func() {
			<-start
			errs[g] = rx.db.View(t.Context(), func(rx *Rx) error {
				ix, err := rx.Index("sqlite_autoindex_t_1")
				for i := 0; i < rows && err == nil; i += 7 {
					_, _, err = ix.Find(fmt.Sprintf("%08d", i))
				}
				return err
			})
		})
	}
	close(start)
	wg.Wait()
	if i := slices.IndexFunc(errs, func(err error) bool { return err != nil }); i >= 0 {
		return errs[i]
	}
	ix, err := rx.Index("sqlite_autoindex_t_1")
	if err != nil {
		return err
	}
	if counted, held := ix.def.InteriorBytes(&rx.pager); counted != held || held == 0 {
		t.Errorf("%d bytes are counted, %d are held", counted, held)
	}
	return nil
}
