package overlay

import (
	"bytes"
	"reflect"
	"testing"

	"github.com/foliofs/folio/internal/store"
)

// TestRecord compares a record with the bytes that other programs find in a volume.
func TestRecord(t *testing.T) {
	t.Parallel()
	r := &Record{Path: "a dir/f", Mode: 0o100644, Size: 70_000, Mtime: 5, Ctime: -6, Taken: 7, Limit: 60_000}
	const want = "1 100644 70000 5 -6 60000 7 a dir/f"
	if got := string(r.encode()); got != want {
		t.Errorf("%q, want %q", got, want)
	}
	if back, err := decodeRecord([]byte(want)); err != nil || !reflect.DeepEqual(back, r) {
		t.Errorf("%+v, %v", back, err)
	}
	other := *r
	other.Path = "b"
	all, err := replacedRecords([]store.Xattr{{Name: attrReplaced, Value: encodeAll([]*Record{r, &other})}})
	if err != nil || len(all) != 2 || !reflect.DeepEqual(all[0], r) || !reflect.DeepEqual(all[1], &other) {
		t.Errorf("%+v, %v", all, err)
	}
}

// FuzzRecord decodes any bytes. A record that can be decoded must encode to one that is the same.
func FuzzRecord(f *testing.F) {
	for _, seed := range []string{
		"", "1", "1 100644 70000 5 -6 60000 7 a dir/f", "1 40755 0 0 0 0 0 .", "2 40755 0 0 0 0 0 .", "1 40755 0 0 0 1 0 x",
		"1 40755 -1 0 0 0 0 x", "1 9 0 0 0 0 0 x", "1 40755 0 0 0 0 0 ../x", "1 40755 0 0 0 0 0 x\x001 40755 0 0 0 0 0 y",
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, value []byte) {
		r, err := decodeRecord(value)
		if err != nil {
			return
		}
		again, err := decodeRecord(r.encode())
		if err != nil || !reflect.DeepEqual(again, r) {
			t.Errorf("%+v, %v, want %+v", again, err, r)
		}
		list, err := replacedRecords([]store.Xattr{{Name: attrReplaced, Value: encodeAll([]*Record{r, r})}})
		if !bytes.ContainsRune([]byte(r.Path), 0) && (err != nil || len(list) != 2) {
			t.Errorf("%d records, %v", len(list), err)
		}
	})
}

// TestEscape checks that names of attributes make the round trip, and that those of the overlay are
// not seen.
func TestEscape(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"user.a", "trusted.overlay.opaque", "trusted.overlay.overlay.x", "trusted.overlayx", "trusted.overlay."} {
		list := visible([]store.Xattr{{Name: attrRecord}, {Name: escape(name)}, {Name: attrRedirect}})
		if len(list) != 1 || list[0].Name != name {
			t.Errorf("%s: %v", name, list)
		}
	}
}
