package osfile

import "golang.org/x/sys/unix"

// From bsd/sys/fcntl.h of XNU, where they are not yet public: x/sys/unix lacks them.
const (
	ofdSetLock = 90 // F_OFD_SETLK
	ofdGetLock = 92 // F_OFD_GETLK
)

// ofdHolder: this system does not tell.
func ofdHolder(*description, *unix.Flock_t) int { return 0 }
