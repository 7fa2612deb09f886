package format

// The bytes of a database file that carry its locks (sqlite.org/lockingv3.html).
const (
	PendingByte  = 0x40000000
	ReservedByte = PendingByte + 1
	SharedByte   = PendingByte + 2
	SharedSize   = 510
)
