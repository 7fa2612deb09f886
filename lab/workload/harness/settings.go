package harness

import "fmt"

// asked are pragmas that are only read. Their values are shown, and must be the same on every
// connection.
var asked = []string{"page_size", "cache_size", "mmap_size", "journal_mode", "synchronous", "locking_mode", "temp_store", "threads"}

// readSettings asks a connection for its settings. It leaves out a pragma that the connection does
// not know.
func readSettings(c Conn) (map[string]string, error) {
	out := make(map[string]string)
	for _, name := range asked {
		v, err := text(c, "PRAGMA "+name)
		if err != nil {
			return nil, fmt.Errorf("PRAGMA %s: %w", name, err)
		}
		if v != "" {
			out[name] = v
		}
	}
	return out, nil
}
