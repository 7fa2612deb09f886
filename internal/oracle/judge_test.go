package oracle

import (
	"database/sql"
	"testing"

	_ "github.com/mattn/go-sqlite3"
)

// TestVersion names the judge.
func TestVersion(t *testing.T) {
	db, err := sql.Open("sqlite3", ":memory:")
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	var v string
	if err := db.QueryRow("SELECT sqlite_version()").Scan(&v); err != nil {
		t.Skipf("no C SQLite in this build: %v", err)
	}
	t.Logf("C SQLite %s", v)
}
