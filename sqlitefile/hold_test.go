package sqlitefile

import "testing"

// TestCompactHolds lets holds go with the database when another file takes its place.
func TestCompactHolds(t *testing.T) {
	t.Parallel()
	path := scripted(t, "CREATE TABLE t(a); INSERT INTO t VALUES (zeroblob(100000)); DELETE FROM t")
	db, err := Open(path, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	for n := range int64(4) {
		if err := db.Hold(n); err != nil {
			t.Fatal(err)
		}
	}
	if err := db.Release(2); err != nil {
		t.Fatal(err)
	}
	var done, all uint32
	if err := db.CompactProgress(t.Context(), func(d, a uint32) { done, all = d, a }); err != nil || done > all {
		t.Fatalf("%v after %d of %d pages", err, done, all)
	}
	other, err := Open(path, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer other.Close()
	want := func(n int64, want bool) {
		t.Helper()
		if held, err := other.Held(n); err != nil || held != want {
			t.Errorf("%d: %t, %v", n, held, err)
		}
	}
	for n := range int64(5) {
		want(n, n != 2 && n != 4)
	}
	if err := db.Release(1); err != nil {
		t.Fatal(err)
	}
	want(1, false)
	want(0, true)
}
