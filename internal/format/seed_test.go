package format

import (
	"bytes"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// A seed is a first input of a fuzz target, in the order of its arguments.
type seed struct {
	name string
	args []any
}

// seeds returns the seeds of each target. Most are bytes that SQLite wrote, cut out of the golden
// files; the rest are at the limits of a decoder. Inputs that a fuzzer finds are kept next to them,
// under the name it gives them.
func seeds(tb testing.TB) map[string][]seed {
	g := func(name string, from, to int) []byte { return goldenBytes(tb, name)[from:to] }
	tree, overflow, wal := goldenBytes(tb, "tree"), goldenBytes(tb, "overflow"), goldenBytes(tb, "wal")
	index, indexBE, journal := g("walindex", 0, 48), g("walindex-be", 0, 48), goldenBytes(tb, "journal")
	super, superBE := g("super", 0x600, 0x837), g("super-be", 0x600, 0x837)
	return map[string][]seed{
		"FuzzVarint": {
			{"empty", []any{[]byte{}}},
			{"one-byte", []any{[]byte{0x7f}}},
			{"two-bytes", []any{[]byte{0x81, 0x00}}},
			{"eight-bytes", []any{[]byte{0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x7f}}},
			{"nine-bytes", []any{bytes.Repeat([]byte{0xff}, 9)}},
			{"too-long", []any{[]byte{0x80, 0x80, 0x01}}},
			{"cut", []any{[]byte{0x80, 0x80, 0x80}}},
		},
		"FuzzHeader": {
			{"plain", []any{tree[:HeaderSize]}},
			{"full", []any{g("header", 0, HeaderSize)}},
			{"short", []any{tree[:HeaderSize-1]}},
		},
		"FuzzPageHeader": {
			{"page-1", []any{tree[:512], true}},
			{"interior-table", []any{tree[512:1024], false}},
			{"interior-index", []any{tree[1024:1536], false}},
			{"leaf", []any{tree[1536:2048], false}},
			{"64KiB", []any{[]byte{0x0d, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0}, false}},
			{"short", []any{tree[512:523], false}},
		},
		"FuzzCell": append(cellSeeds(tree, "tree"), cellSeeds(overflow, "overflow")...),
		"FuzzSpill": {
			{"table", []any{uint64(4061), byte(LeafTable), uint16(4095)}},
			{"table-over", []any{uint64(4062), byte(LeafTable), uint16(4095)}},
			{"index", []any{uint64(1002), byte(LeafIndex), uint16(4095)}},
			{"index-over", []any{uint64(1003), byte(InteriorIndex), uint16(4095)}},
			{"least-page", []any{uint64(1 << 40), byte(LeafIndex), uint16(479)}},
			{"largest-page", []any{uint64(math.MaxUint64), byte(LeafTable), uint16(65535)}},
		},
		"FuzzRecord": {
			{"null", []any{g("records", 0x7f8, 0x800)}},
			{"floats", []any{g("records", 0x779, 0x7a7)}},
			{"texts", []any{g("records", 0x759, 0x777)}},
			{"long-types", []any{g("records", 0x699, 0x757)}},
			{"long-header", []any{g("wide", 0xf78, 0x1000)}},
			{"no-header", []any{[]byte{0}}},
			{"header-past-end", []any{[]byte{4, 1, 1}}},
			{"value-past-end", []any{[]byte{2, 6, 1}}},
			{"huge-value", []any{append([]byte{10}, bytes.Repeat([]byte{0xff}, 9)...)}},
			{"nan", []any{[]byte{2, 7, 0x7f, 0xf8, 0, 0, 0, 0, 0, 1}}},
		},
		"FuzzInt": {
			{"zero", []any{int64(0)}},
			{"largest", []any{int64(math.MaxInt64)}},
			{"least", []any{int64(math.MinInt64)}},
			{"six-bytes", []any{int64(1<<47 - 1)}},
		},
		"FuzzTrunk": {
			{"two-leaves", []any{g("ptrmap", 0x800, 0xa00)}},
			{"full", []any{g("freelist", 0x600, 0x800)}},
			{"too-many", []any{[]byte{0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 2}}},
			{"billions", []any{[]byte{0, 0, 0, 0, 0xff, 0xff, 0xff, 0xff}}},
		},
		"FuzzPointer": {
			{"root", []any{g("ptrmap", 0x200, 0x205)}},
			{"chain", []any{g("ptrmap", 0x21e, 0x223)}},
			{"none", []any{[]byte{6, 0, 0, 0, 1}}},
			{"short", []any{[]byte{1, 0, 0}}},
		},
		"FuzzPtrmapPage": {
			{"first", []any{uint32(2), byte(0), byte(0)}},
			{"lock-512", []any{uint32(2097153), byte(0), byte(0)}},
			{"lock-65536", []any{uint32(16385), byte(7), byte(0)}},
			{"on-the-lock-page", []any{uint32(1048578), byte(1), byte(0)}},
			{"last", []any{uint32(MaxPage), byte(3), byte(255)}},
		},
		"FuzzChecksum": {
			{"little", []any{wal, false, uint32(0), uint32(0)}},
			{"big", []any{wal, true, uint32(1), uint32(math.MaxUint32)}},
			{"odd", []any{wal[:15], false, uint32(7), uint32(9)}},
		},
		"FuzzWALHeader": {
			{"little", []any{wal[:32], false}},
			{"big", []any{g("wal-be", 0, 32), false}},
			{"sealed", []any{append(bytes.Clone(wal[:24]), make([]byte, 8)...), true}},
			{"page-size", []any{append(bytes.Clone(wal[:8]), make([]byte, 24)...), true}},
		},
		"FuzzFrame": {
			{"little", []any{wal[32:568], false, be32(wal[24:]), be32(wal[28:])}},
			{"big", []any{g("wal-be", 32, 568), true, uint32(0), uint32(0)}},
			{"no-page", []any{make([]byte, 24), false, uint32(0), uint32(0)}},
		},
		"FuzzWALIndexHeader": {
			{"little", []any{index, false, false}},
			{"big", []any{indexBE, true, false}},
			{"other-way", []any{index, true, true}},
			{"zero", []any{make([]byte, 48), false, false}},
		},
		"FuzzJournalHeader": {
			{"first", []any{journal[:512]}},
			{"not-on-disk", []any{journal[0xc00:0xc1c]}},
			{"to-the-end", []any{append([]byte(journalMagic), bytes.Repeat([]byte{0xff}, 20)...)}},
			{"short", []any{journal[:27]}},
		},
		"FuzzJournalRecord": {
			{"first", []any{journal[512 : 512+520], be32(journal[12:])}},
			{"page-0", []any{make([]byte, 520), uint32(0)}},
			{"no-content", []any{make([]byte, 8), uint32(0)}},
		},
		"FuzzSuperJournal": {
			{"signed", []any{super}},
			{"unsigned", []any{superBE}},
			{"no-name", []any{appendSuperJournal(nil, 1, "", false)}},
			{"zero-byte", []any{appendSuperJournal(nil, 1, "a\x00b", false)}},
			{"longer-than-file", []any{appendSuperJournal(nil, 1, "abc", false)[6:]}},
			{"damaged", []any{bytes.Replace(super, []byte("super"), []byte("sUper"), 1)}},
		},
	}
}

// cellSeeds returns the first cell of each b-tree page with the page it lies in.
func cellSeeds(b []byte, name string) (seeds []seed) {
	for i := 0; i*512 < len(b); i++ {
		page, at := b[i*512:][:512], PageHeaderAt(uint32(i)+1)
		if h, ok := ParsePageHeader(page, at); ok && h.Cells > 0 {
			off := int(page[at+h.Kind.HeaderLen()])<<8 | int(page[at+h.Kind.HeaderLen()+1])
			seeds = append(seeds, seed{fmt.Sprintf("%s-page-%d", name, i+1), []any{page, byte(h.Kind), uint16(511), off}})
		}
	}
	return seeds
}

func be32(b []byte) uint32 {
	return uint32(b[0])<<24 | uint32(b[1])<<16 | uint32(b[2])<<8 | uint32(b[3])
}

// TestSeeds holds the files under testdata/fuzz to seeds, or rewrites them.
func TestSeeds(t *testing.T) {
	for target, list := range seeds(t) {
		dir := filepath.Join("testdata", "fuzz", target)
		if *update {
			if err := os.MkdirAll(dir, 0o755); err != nil {
				t.Fatal(err)
			}
		}
		for _, s := range list {
			file, want := filepath.Join(dir, s.name), s.encode()
			if *update {
				if err := os.WriteFile(file, want, 0o644); err != nil {
					t.Fatal(err)
				}
			} else if got, err := os.ReadFile(file); err != nil || !bytes.Equal(got, want) {
				t.Errorf("%s is not what seeds says: %v", file, err)
			}
		}
	}
}

// encode writes a seed as the go command reads it.
func (s seed) encode() []byte {
	var b strings.Builder
	b.WriteString("go test fuzz v1\n")
	for _, arg := range s.args {
		switch arg := arg.(type) {
		case []byte:
			fmt.Fprintf(&b, "[]byte(%q)\n", arg)
		case byte:
			fmt.Fprintf(&b, "byte(%q)\n", arg)
		default:
			fmt.Fprintf(&b, "%T(%v)\n", arg, arg)
		}
	}
	return []byte(b.String())
}
