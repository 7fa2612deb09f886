package harness

import (
	"os"
	"strconv"
	"strings"

	"github.com/foliofs/folio/lab/workload"
)

// readProc reads further values from Linux: the peak of resident memory, and the bytes that were
// written to the disk.
func readProc(use *workload.Use) {
	status := readFields("/proc/self/status")
	if kib, ok := status["VmHWM"]; ok {
		use.PeakMemory = ptr(kib << 10)
	}
	if n, ok := readFields("/proc/self/io")["write_bytes"]; ok {
		use.WrittenBytes = ptr(n)
	}
}

// readFields reads the lines of a file that are a name, a colon and a number.
func readFields(name string) map[string]int64 {
	data, err := os.ReadFile(name)
	if err != nil {
		return nil // its fields are not known
	}
	fields := make(map[string]int64)
	for line := range strings.Lines(string(data)) {
		key, value, _ := strings.Cut(line, ":")
		if words := strings.Fields(value); len(words) > 0 {
			if n, err := strconv.ParseInt(words[0], 10, 64); err == nil {
				fields[key] = n
			}
		}
	}
	return fields
}
