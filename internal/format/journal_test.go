package format

import "testing"

func TestJournalSizes(t *testing.T) {
	tests := []struct {
		sector, page uint32
		ok           bool
	}{
		{512, 4096, true},
		{32, 512, true},
		{65536, 65536, true},
		{4096, 0, true},
		{16, 512, false},
		{131072, 512, false},
		{48, 512, false},
		{0, 512, false},
		{512, 256, false},
		{512, 131072, false},
		{512, 1000, false},
		{1 << 31, 1 << 31, false},
	}
	for _, tt := range tests {
		h := JournalHeader{SectorSize: tt.sector, PageSize: tt.page}
		if h.ValidSizes() != tt.ok {
			t.Errorf("sector %d, page %d: valid %t", tt.sector, tt.page, h.ValidSizes())
		}
	}
}

func TestJournalHeaderLength(t *testing.T) {
	b := goldenBytes(t, "journal")
	if h, ok := ParseJournalHeader(b[:JournalHeaderSize]); !ok || h.Records != 1 || h.SectorSize != 512 {
		t.Errorf("%+v, %t", h, ok)
	}
	if _, ok := ParseJournalHeader(b[:JournalHeaderSize-1]); ok {
		t.Error("a header in 27 bytes")
	}
}

func TestJournalNextSegment(t *testing.T) {
	for off, want := range map[int64]int64{0: 0, 1: 512, 511: 512, 512: 512, 513: 1024, 1<<40 + 1: 1<<40 + 512} {
		if got := JournalNextSegment(off, 512); got != want {
			t.Errorf("after %d: %d, want %d", off, got, want)
		}
	}
}

// TestJournalChecksum sums the bytes that a page of 65536 samples, one by one: those at 136, 336,
// up to 65336.
func TestJournalChecksum(t *testing.T) {
	page := make([]byte, MaxPageSize)
	sampled := 0
	for i := range page {
		page[i] = 200
		if sum := JournalChecksum(7, page); sum != 7 {
			sampled++
			if sum != 207 || i%200 != 136 {
				t.Fatalf("byte %d adds %d", i, sum-7)
			}
		}
		page[i] = 0
	}
	if sampled != 327 {
		t.Errorf("%d bytes sampled, want 327", sampled)
	}
}

func TestSuperJournalFaults(t *testing.T) {
	good := appendSuperJournal(nil, 2097153, "/a/b-mj1234", false)
	if name, ok := SuperJournal(good); !ok || name != "/a/b-mj1234" {
		t.Errorf("%q, %t", name, ok)
	}
	for i := 4; i < len(good); i++ {
		good[i]++
		if name, ok := SuperJournal(good); ok {
			t.Errorf("byte %d changed: %q", i, name)
		}
		good[i]--
	}
	for n := range len(good) {
		if name, ok := SuperJournal(good[len(good)-n:]); ok != (n >= len(good)-4) {
			t.Errorf("the last %d bytes: %q, %t", n, name, ok)
		}
	}
	long := make([]byte, maxSuperJournal+1)
	for i := range long {
		long[i] = 'n'
	}
	if _, ok := SuperJournal(appendSuperJournal(nil, 1, string(long), false)); ok {
		t.Error("a name longer than SQLite takes")
	}
	if _, ok := SuperJournal(appendSuperJournal(nil, 1, string(long[1:]), false)); !ok {
		t.Error("not the longest name that SQLite takes")
	}
}

func TestSuperJournalName(t *testing.T) {
	for name, ok := range map[string]bool{
		"/a/b-mj012345967": true,
		"-mjabcdef9AB":     true,
		"mjabcdef9AB":      false,
		"/a/b-mjabcdef8AB": false,
		"/a/b-mjabcdeg9AB": false,
		"/a/b-mxabcdef9AB": false,
		"/a/b-mjabcdef9A":  false,
		"/a/b-mj/bcdef9AB": false,
		"":                 false,
	} {
		if got := SuperJournalName(name); got != ok {
			t.Errorf("%q: %t", name, got)
		}
	}
}
