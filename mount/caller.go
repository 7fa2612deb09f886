//go:build linux && !386 && !arm && !mips && !mipsle

package mount

import (
	"bytes"
	"fmt"
	"os"
	"slices"
	"strconv"

	"github.com/hanwen/go-fuse/v2/fuse"
)

// A caller is the thread that waits for the answer to a request. A request says only what user it
// is. The rest is in /proc, and stays as it is until the request is answered. It takes some 20
// microseconds to read, so few requests ask for it.
type caller struct {
	seen         bool     // it is in /proc, and works for the user of the request
	plain        bool     // and in no user namespace, so that there is nothing else to know
	groups       []uint32 // at least one
	capabilities uint64   // towards the whole system: those within a user namespace do not count
}

// callerOf returns the caller of a request. A caller that is not seen has no capabilities.
func callerOf(in *fuse.InHeader) caller {
	c := caller{groups: []uint32{in.Gid}}
	if in.Pid == 0 { // of another namespace of processes
		return c
	}
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", in.Pid))
	if err != nil {
		return c
	}
	uids := fields(status, "Uid:")
	if len(uids) != 4 || uids[fsUID] != strconv.FormatUint(uint64(in.Uid), 10) {
		return c
	}
	c.seen = true
	for _, field := range fields(status, "Groups:") {
		if gid, err := strconv.ParseUint(field, 10, 32); err == nil {
			c.groups = append(c.groups, uint32(gid))
		}
	}
	if user, err := os.Readlink(fmt.Sprintf("/proc/%d/ns/user", in.Pid)); err != nil || user != firstUserNamespace {
		return c
	}
	c.plain = true
	if effective := fields(status, "CapEff:"); len(effective) == 1 {
		c.capabilities, _ = strconv.ParseUint(effective[0], 16, 64)
	}
	return c
}

const (
	fsUID              = 3 // which of the four user ids in /proc counts for files
	firstUserNamespace = "user:[4026531837]"
)

// fields returns the fields of a line of /proc/PID/status.
func fields(status []byte, label string) []string {
	_, rest, _ := bytes.Cut(status, []byte("\n"+label))
	line, _, _ := bytes.Cut(rest, []byte("\n"))
	var list []string
	for field := range bytes.FieldsSeq(line) {
		list = append(list, string(field))
	}
	return list
}

// can reports whether the caller has capabilities, all of them.
func (c *caller) can(capabilities ...uint) bool {
	for _, one := range capabilities {
		if c.capabilities>>one&1 == 0 {
			return false
		}
	}
	return true
}

// in reports whether the caller is in a group.
func (c *caller) in(gid uint32) bool { return slices.Contains(c.groups, gid) }
