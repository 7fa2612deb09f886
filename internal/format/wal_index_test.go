package format

import (
	"encoding/binary"
	"testing"
)

// TestWALIndexBlocks counts frames through the first blocks: 4062 in the first, and then 4096 in
// each.
func TestWALIndexBlocks(t *testing.T) {
	block, word := 0, WALIndexHeaderWords
	for frame := uint32(1); frame < 20_000; frame++ {
		if word == 4096 {
			block, word = block+1, 0
			if got := WALIndexFirst(block); got != frame {
				t.Fatalf("block %d begins with frame %d, want %d", block, got, frame)
			}
		}
		if b, w := WALIndexBlock(frame), WALIndexPageWord(frame); b != block || w != word {
			t.Fatalf("frame %d in word %d of block %d, want %d of %d", frame, w, b, word, block)
		}
		word++
	}
	if WALIndexFirst(0) != 1 || WALIndexFirst(1) != 4063 || WALIndexFirst(2) != 8159 {
		t.Errorf("blocks begin with frames %d, %d, %d", WALIndexFirst(0), WALIndexFirst(1), WALIndexFirst(2))
	}
	if b, w := WALIndexBlock(1<<32-1), WALIndexPageWord(1<<32-1); b != 1<<20 || w != 32 {
		t.Errorf("the last frame in word %d of block %d", w, b)
	}
}

// TestWALIndexSlots stores a number in each slot of a hash table, and finds all of them.
func TestWALIndexSlots(t *testing.T) {
	var block [WALIndexBlockWords]uint32
	for slot := range walIndexSlots {
		w := &block[WALIndexSlotWord(slot)]
		*w = WithWALIndexSlot(*w, slot, 0xffff)
		*w = WithWALIndexSlot(*w, slot, uint16(slot+1))
	}
	for slot := range walIndexSlots {
		if got := WALIndexSlot(block[WALIndexSlotWord(slot)], slot); got != uint16(slot+1) {
			t.Fatalf("slot %d holds %d", slot, got)
		}
	}
	if got := NextWALIndexSlot(walIndexSlots - 1); got != 0 {
		t.Errorf("after the last slot comes %d", got)
	}
	// As 16-bit integers in memory, on either kind of machine.
	if slotShift(0, false) != 0 || slotShift(1, false) != 16 || slotShift(0, true) != 16 || slotShift(1, true) != 0 {
		t.Error("slots do not lie in the order of memory")
	}
	for _, pgno := range []uint32{1, 2, 22, 8192, 1<<32 - 1} {
		if got, want := WALIndexHash(pgno), int(uint64(pgno)*383%8192); got != want {
			t.Errorf("page %d hashes to %d, want %d", pgno, got, want)
		}
	}
}

// TestWALIndexOther reads each machine's header as the other kind would: the checksum must tell.
func TestWALIndexOther(t *testing.T) {
	for name, bigEndian := range map[string]bool{"walindex": false, "walindex-be": true} {
		w := WALIndexWords(walIndexWords(goldenBytes(t, name)[:48], bigEndian))
		h, ok := parseWALIndexHeader(&w, bigEndian)
		if !ok || h.PageSize != 512 || h.BigEndian != bigEndian {
			t.Errorf("%s: %+v, %t", name, h, ok)
		}
		log, _ := ParseWALHeader(goldenBytes(t, map[bool]string{false: "wal", true: "wal-be"}[bigEndian]))
		if h.Salt != log.Salt {
			t.Errorf("%s: salts %08x, the log's are %08x", name, h.Salt, log.Salt)
		}
		w = WALIndexWords(walIndexWords(goldenBytes(t, name)[:48], !bigEndian))
		if _, ok := parseWALIndexHeader(&w, !bigEndian); ok {
			t.Errorf("%s is ok on the other kind of machine", name)
		}
		h.PageSize = MaxPageSize
		w = h.words(bigEndian)
		if got, ok := parseWALIndexHeader(&w, bigEndian); !ok || got != h {
			t.Errorf("%s with pages of 64 KiB: %+v, %t", name, got, ok)
		}
		w[3] = 0
		sum := Checksum{}.addWords(w[:10])
		w[10], w[11] = sum[0], sum[1]
		if _, ok := parseWALIndexHeader(&w, bigEndian); ok {
			t.Errorf("%s is ok before it is initialized", name)
		}
	}
}

// TestWALIndexHost reads the index that a machine like this one wrote as this machine does: by
// words, natively.
func TestWALIndexHost(t *testing.T) {
	for _, name := range []string{"walindex", "walindex-be"} {
		b := goldenBytes(t, name)
		if binary.NativeEndian.Uint32(b) != WALIndexVersion {
			continue
		}
		var w [WALIndexBlockWords]uint32
		for i := range w {
			w[i] = binary.NativeEndian.Uint32(b[4*i:])
		}
		first := WALIndexWords(w[:WALIndexCopyWord])
		h, ok := ParseWALIndexHeader(&first)
		if !ok || h.PageSize != 512 || h.MaxFrame == 0 {
			t.Errorf("%s: %+v, %t", name, h, ok)
		}
		if h.Words() != first {
			t.Errorf("%s: %08x encoded as %08x", name, first, h.Words())
		}
		for slot := range walIndexSlots {
			want := binary.NativeEndian.Uint16(b[4*walIndexHashAt+2*slot:])
			if got := WALIndexSlot(w[WALIndexSlotWord(slot)], slot); got != want {
				t.Errorf("%s: slot %d holds %d, want %d", name, slot, got, want)
			}
		}
		return
	}
	t.Error("no golden file is of this machine's byte order")
}
