// This file is added to a copy of golang.org/x/net/webdav. It is of another package than the tests there, because dav imports webdav.

package webdav_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/foliofs/folio"
	"github.com/foliofs/folio/adapter/dav"
	"github.com/foliofs/folio/pgstore"
	"golang.org/x/net/webdav"
)

func TestMain(m *testing.M) {
	var vols []*folio.Volume
	webdav.NewFolio = func() webdav.FileSystem {
		vol, err := volume(len(vols))
		if err != nil {
			panic(err)
		}
		vols = append(vols, vol)
		return dav.New(vol)
	}
	code := m.Run()
	fmt.Println("volumes made:", len(vols))
	for _, vol := range vols {
		if report, err := vol.Check(context.Background(), nil); err != nil || !report.OK() {
			fmt.Fprintln(os.Stderr, "the volume is damaged:", report, err)
			code = 1
		}
	}
	os.Exit(code)
}

// volume makes a volume, in a file or on a server.
func volume(n int) (*folio.Volume, error) {
	address := os.Getenv("FOLIO_SUITE_SERVER")
	if address == "" {
		return folio.Open(filepath.Join(os.Getenv("FOLIO_SUITE"), fmt.Sprintf("suite-%d.folio", n)), &folio.Options{Create: true})
	}
	return pgstore.Open(context.Background(), fmt.Sprint(address, n), &pgstore.Options{Create: true})
}
