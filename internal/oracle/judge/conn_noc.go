//go:build !cgo

package judge

import "errors"

// Available tells whether C SQLite is in this build.
const Available = false

var errNoC = errors.New("no C compiler: C SQLite is not in this build")

// ReserveBytes needs C.
func (c *Conn) ReserveBytes(int) error { return errNoC }

// Deserialize needs C.
func (c *Conn) Deserialize([]byte) error { return errNoC }

// LimitLength needs C.
func (c *Conn) LimitLength(int) {}

func code(error) int { return 0 }

func extended(error) int { return 0 }
