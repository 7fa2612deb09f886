package sqlitefile

import "testing"

// TestCompactPins lets pins go with the database when another file takes its place.
func TestCompactPins(t *testing.T) {
	t.Parallel()
	path := scripted(t, "CREATE TABLE t(a); INSERT INTO t VALUES (zeroblob(100000)); DELETE FROM t")
	db, err := Open(path, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	for n := range int64(4) {
		if err := db.pager.Pin(n); err != nil {
			t.Fatal(err)
		}
	}
	if err := db.pager.Unpin(2); err != nil {
		t.Fatal(err)
	}
	var done, total int64
	o := &CompactOptions{Progress: func(d, t int64) { done, total = d, t }}
	if err := db.Compact(t.Context(), o); err != nil || done > total {
		t.Fatalf("%v after %d of %d bytes", err, done, total)
	}
	other, err := Open(path, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer other.Close()
	want := func(n int64, want bool) {
		t.Helper()
		if pinned, err := other.pager.Pinned(n); err != nil || pinned != want {
			t.Errorf("%d: %t, %v", n, pinned, err)
		}
	}
	for n := range int64(5) {
		want(n, n != 2 && n != 4)
	}
	if err := db.pager.Unpin(1); err != nil {
		t.Fatal(err)
	}
	want(1, false)
	want(0, true)
}
