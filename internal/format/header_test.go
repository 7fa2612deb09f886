package format

import (
	"bytes"
	"testing"
)

// TestHeaderFaults changes one thing at a time in a header of SQLite's.
func TestHeaderFaults(t *testing.T) {
	good := goldenBytes(t, "tree")[:HeaderSize]
	tests := []struct {
		name  string
		off   int
		bytes string
		ok    bool
	}{
		{"unchanged", 0, "SQLite", true},
		{"magic", 15, "\x01", false},
		{"page of 256", 16, "\x01\x00", false},
		{"page of 768", 16, "\x03\x00", false},
		{"page of 0", 16, "\x00\x00", false},
		{"page of 64 KiB", 16, "\x00\x01", true},
		{"page of 32 KiB", 16, "\x80\x00", true},
		{"read version of the future", 19, "\x03", true}, // for the caller to see
		{"32 reserved bytes of 512", 20, "\x20", true},
		{"33 reserved bytes of 512", 20, "\x21", false},
		{"most embedded payload", 21, "\x41", false},
		{"least embedded payload", 22, "\x21", false},
		{"leaf payload", 23, "\x00", false},
		{"schema format 5", 44, "\x00\x00\x00\x05", false},
		{"encoding of more bits", 56, "\xff\xff\xff\xff", true}, // see TestHeaderEncoding
	}
	for _, tt := range tests {
		b := bytes.Clone(good)
		copy(b[tt.off:], tt.bytes)
		if h, what := ParseHeader(b); what == "" != tt.ok {
			t.Errorf("%s: %q, %+v", tt.name, what, h)
		}
	}
}

// TestHeaderEncoding checks that only two bits of the encoding count, as in SQLite.
func TestHeaderEncoding(t *testing.T) {
	b := bytes.Clone(goldenBytes(t, "tree")[:HeaderSize])
	for word, want := range map[byte]Encoding{0: UTF8, 1: UTF8, 2: UTF16LE, 3: UTF16BE, 4: UTF8, 6: UTF16LE, 255: UTF16BE} {
		b[56], b[59] = word, word
		if h, what := ParseHeader(b); what != "" || h.Encoding != want {
			t.Errorf("%d: encoding %d, %s; want %d", word, h.Encoding, what, want)
		}
	}
}

// TestHeaderVersions checks that the write version comes before the read version.
func TestHeaderVersions(t *testing.T) {
	b := bytes.Clone(goldenBytes(t, "tree")[:HeaderSize])
	b[18], b[19] = 2, 1
	if h, _ := ParseHeader(b); h.WriteVersion != VersionWAL || h.ReadVersion != VersionRollback {
		t.Errorf("write version %d, read version %d", h.WriteVersion, h.ReadVersion)
	}
}

// TestHeaderPageCount checks that the size in the header counts only if the last writer kept it.
func TestHeaderPageCount(t *testing.T) {
	b := bytes.Clone(goldenBytes(t, "tree")[:HeaderSize])
	if h, _ := ParseHeader(b); h.PageCount != 7 {
		t.Errorf("%d pages, want 7", h.PageCount)
	}
	b[27]++ // the change counter, as a version before 3.7.0 leaves it
	if h, what := ParseHeader(b); what != "" || h.PageCount != 0 {
		t.Errorf("%d pages, %s; want 0: not known", h.PageCount, what)
	}
}

func TestLockPage(t *testing.T) {
	for size, want := range map[int]uint32{512: 2097153, 1024: 1048577, 4096: 262145, 65536: 16385} {
		if got := LockPage(size); got != want {
			t.Errorf("pages of %d bytes: lock page %d, want %d", size, got, want)
		}
	}
}
