//go:build linux && !386 && !arm && !mips && !mipsle && !amd64

package mount

// machinePathCalls are the system calls with a path that other machines lack.
var machinePathCalls map[uint64]pathCall
