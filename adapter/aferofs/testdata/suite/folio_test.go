// This file is added to a copy of afero. It is of another package than afero's tests, because aferofs imports afero.

package afero_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/foliofs/folio"
	"github.com/foliofs/folio/adapter/aferofs"
	"github.com/foliofs/folio/pgstore"
	"github.com/spf13/afero"
)

func TestMain(m *testing.M) {
	vol, err := volume()
	if err == nil {
		afero.Folio = aferofs.New(vol)
		err = afero.Folio.MkdirAll(os.TempDir(), 0o777)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	code := m.Run()
	if err := whole(vol); err != nil {
		fmt.Fprintln(os.Stderr, err)
		code = 1
	}
	os.Exit(code)
}

// volume makes a volume, in a file or on a server.
func volume() (*folio.Volume, error) {
	address := os.Getenv("FOLIO_SUITE_SERVER")
	if address == "" {
		return folio.Open(filepath.Join(os.Getenv("FOLIO_SUITE"), "suite.folio"), &folio.Options{Create: true})
	}
	return pgstore.Open(context.Background(), address, &pgstore.Options{Create: true})
}

// whole reports whether the tests used the volume, and left it whole.
func whole(vol *folio.Volume) error {
	info, err := vol.Info(context.Background())
	if err != nil {
		return err
	}
	fmt.Println("files made in the volume:", info.LastIno)
	report, err := vol.Check(context.Background(), nil)
	if err == nil && !report.OK() {
		err = fmt.Errorf("the volume is damaged: %v", report.Problems)
	}
	return err
}
