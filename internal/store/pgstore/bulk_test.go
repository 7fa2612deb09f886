//go:build unix

package pgstore_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"testing"

	"github.com/foliofs/folio"
	"github.com/foliofs/folio/internal/must"
	"github.com/foliofs/folio/internal/random"
	"github.com/foliofs/folio/internal/store/pgstore"
	"github.com/foliofs/folio/internal/store/pgstore/pgserver"
)

// TestBulk writes, overwrites and cuts new and old files in a transaction that is sent in many
// parts, and compares them with copies in memory.
func TestBulk(t *testing.T) {
	t.Parallel()
	t.Run("rows", func(t *testing.T) {
		t.Parallel()
		testBulk(t, volume(t, pgserver.Volume(t)))
	})
	t.Run("objects", func(t *testing.T) {
		t.Parallel()
		v, _, _ := volumeWithBucket(t, pgstore.Options{})
		testBulk(t, v)
		testPartOfNewFile(t, v)
	})
}

// testPartOfNewFile changes a chunk of a new file. Before that, the chunk went to the server as a
// part of an object, and a chunk before it as a row.
func testPartOfNewFile(t *testing.T, v *folio.Volume) {
	const chunk = 64 << 10
	want := make([]byte, 28*chunk)
	must.Do(t, v.Update(context.Background(), func(tx *folio.Tx) error {
		write := func(name string, p []byte, off int64) error {
			f, err := tx.OpenFile(name, os.O_RDWR|os.O_CREATE, 0o644)
			if err != nil {
				return err
			}
			_, err = f.WriteAt(p, off)
			return errors.Join(err, f.Close())
		}
		writeLong := func(p []byte, off int) error {
			copy(want[off:], p)
			return write("long", p, int64(off))
		}
		err := errors.Join(
			writeLong([]byte("a row"), 16*chunk),
			writeLong(bytes.Repeat([]byte("part"), 2*chunk), 20*chunk))
		for i := int64(0); i < 140 && err == nil; i++ { // rows that fill the transaction, so that it sends all
			err = write("filler", make([]byte, chunk), i*2*chunk)
		}
		return errors.Join(err, writeLong([]byte("changed"), 20*chunk))
	}))
	got, err := v.ReadFile("long")
	must.Do(t, err)
	if !bytes.Equal(got, want) {
		t.Error("the file differs from what was written")
	}
}

func testBulk(t *testing.T, v *folio.Volume) {
	const files, most, total = 4, 5 << 20, 60 << 20
	r := random.New(t)
	want := make([][]byte, files)
	name := func(i int) string { return fmt.Sprintf("dir/%d", i) }
	must.Do(t, v.Mkdir("dir", 0o755))
	must.Do(t, v.WriteFile(name(0), bytes.Repeat([]byte("old"), 1<<20), 0o644))
	want[0] = bytes.Repeat([]byte("old"), 1<<20)
	must.Do(t, v.Update(context.Background(), func(tx *folio.Tx) error {
		for i := 1; i < files; i++ {
			if err := tx.WriteFile(name(i), nil, 0o644); err != nil {
				return err
			}
		}
		for written := 0; written < total; {
			i := r.IntN(files)
			f, err := tx.OpenFile(name(i), 2, 0)
			if err != nil {
				return err
			}
			switch r.IntN(8) {
			case 0:
				size := r.IntN(len(want[i]) + 1)
				want[i] = want[i][:size:size]
				err = f.Truncate(int64(size))
			case 1:
				if err = tx.Remove(name(i)); err == nil {
					want[i] = nil
					err = tx.WriteFile(name(i), nil, 0o644)
				}
			default:
				p := bytes.Repeat([]byte{byte(r.Uint32())}, r.IntN(1<<20))
				at := r.IntN(len(want[i]) + 1)
				if r.IntN(2) == 0 {
					at = len(want[i])
				}
				if len(want[i]) > most {
					at = 0
				}
				want[i] = append(want[i], make([]byte, max(0, at+len(p)-len(want[i])))...)
				copy(want[i][at:], p)
				_, err = f.WriteAt(p, int64(at))
				written += len(p)
			}
			if err != nil {
				return err
			}
			if err := f.Close(); err != nil {
				return err
			}
		}
		return nil
	}))
	for i := range want {
		got, err := v.ReadFile(name(i))
		must.Do(t, err)
		if !bytes.Equal(got, want[i]) {
			t.Errorf("%s: %d bytes differ from %d", name(i), len(got), len(want[i]))
		}
	}
	report, err := v.Check(context.Background(), nil)
	must.Do(t, err)
	if !report.OK() {
		t.Errorf("%+v", report)
	}
}
