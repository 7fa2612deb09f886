package format

import "testing"

// TestTrunkLimits counts one leaf more and less than a trunk has room for, in pages of the least
// and of a usual size.
func TestTrunkLimits(t *testing.T) {
	for _, tt := range []struct{ usable, leaves int }{{480, 118}, {512, 126}, {4096, 1022}, {65536, 16382}, {8, 0}} {
		page := make([]byte, tt.usable, tt.usable+100)
		page[6], page[7] = byte(tt.leaves>>8), byte(tt.leaves)
		if trunk, ok := ParseTrunk(page); !ok || trunk.Len() != tt.leaves {
			t.Errorf("%d usable bytes: %d leaves, %t; want %d", tt.usable, trunk.Len(), ok, tt.leaves)
		}
		page[6], page[7] = byte((tt.leaves+1)>>8), byte(tt.leaves+1)
		if trunk, ok := ParseTrunk(page); ok {
			t.Errorf("%d usable bytes: %d leaves", tt.usable, trunk.Len())
		}
	}
	if _, ok := ParseTrunk(make([]byte, 7)); ok {
		t.Error("a trunk in 7 bytes")
	}
	// SQLite filled the last trunk of the golden file as far as it does.
	trunk, ok := ParseTrunk(goldenBytes(t, "freelist")[0x600:0x800])
	if !ok || trunk.Len() != TrunkFill(512) {
		t.Errorf("%d leaves, %t; want %d", trunk.Len(), ok, TrunkFill(512))
	}
}
