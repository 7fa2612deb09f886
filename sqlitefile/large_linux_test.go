package sqlitefile

import (
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// memoryBytes is how much memory a transaction may take, however much it writes.
const memoryBytes = 256e6

var (
	largeBytes = flag.Int64("large.bytes", 500e6, "bytes that TestLargeTransaction writes")
	largeDir   = flag.String("large.dir", "", "where; a temporary directory by default")
)

const largeEnv = "FOLIO_LARGE"

var largeModes = map[string]JournalMode{"wal": JournalWAL, "delete": JournalDelete}

// TestLargeTransaction writes more in one transaction than it may take memory, in a process of its
// own, whose memory the kernel tells.
func TestLargeTransaction(t *testing.T) {
	if testing.Short() {
		t.Skip("the race detector takes memory of its own")
	}
	t.Parallel()
	for name := range largeModes {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := *largeDir
			if dir == "" {
				dir = t.TempDir()
			}
			path := filepath.Join(dir, "large-"+name+".db")
			t.Cleanup(func() { _ = os.Remove(path) })
			cmd := exec.Command(os.Args[0], "-test.run=^TestLargeProcess$", "-test.v", "-test.timeout=0", fmt.Sprint("-large.bytes=", *largeBytes))
			cmd.Env = append(os.Environ(), largeEnv+"="+name+":"+path)
			out, err := cmd.CombinedOutput()
			if err != nil {
				t.Fatalf("%v\n%s", err, out)
			}
			var rows, most int64
			_, report, _ := strings.Cut(string(out), "wrote ")
			if _, err := fmt.Sscanf(report, "%d rows with %d bytes of memory", &rows, &most); err != nil || rows != *largeBytes/largeValue {
				t.Fatalf("%v\n%s", err, out)
			}
			if most > memoryBytes {
				t.Errorf("%d bytes of memory, want at most %.0f", most, memoryBytes)
			}
			t.Logf("%d rows with %.0f MB of memory", rows, float64(most)/1e6)
			n := 0
			view(t, open(t, path, nil), countRows(&n))
			if int64(n) != rows {
				t.Errorf("%d rows, want %d", n, rows)
			}
		})
	}
}

// largeValue is how many bytes each row of TestLargeTransaction has.
const largeValue = 1000

// TestLargeProcess is not a test but what TestLargeTransaction runs.
func TestLargeProcess(t *testing.T) {
	name, path, ok := strings.Cut(os.Getenv(largeEnv), ":")
	if !ok {
		t.Skip("only a process of TestLargeTransaction")
	}
	db := open(t, path, &Options{Create: true, JournalMode: largeModes[name], Durability: DurabilityNormal})
	if err := db.Exec(t.Context(), "CREATE TABLE t(a INTEGER PRIMARY KEY, b BLOB)"); err != nil {
		t.Fatal(err)
	}
	var rows, most int64
	value := make([]byte, largeValue)
	update(t, db, func(tx *Tx) error {
		table, err := tx.Table("t")
		for ; rows < *largeBytes/largeValue && err == nil; rows++ {
			if rows%10_000 == 0 {
				most = max(most, anonymous(t))
			}
			err = table.Put(rows, nil, value)
		}
		return err
	})
	fmt.Printf("wrote %d rows with %d bytes of memory\n", rows, max(most, anonymous(t)))
}

// anonymous returns how many bytes of memory this process has besides what the kernel keeps of
// files.
func anonymous(t *testing.T) int64 {
	t.Helper()
	status, err := os.ReadFile("/proc/self/status")
	if err != nil {
		t.Fatal(err)
	}
	var kib int64
	_, line, _ := strings.Cut(string(status), "RssAnon:")
	if _, err := fmt.Sscanf(line, "%d kB", &kib); err != nil {
		t.Fatal(err)
	}
	return kib << 10
}
