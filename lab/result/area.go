package result

// The areas that a profile is divided into. Each moment of the processor, or byte, belongs to one of them: that of the innermost
// function on the stack which says something. What a general function does, such as copying memory, is its caller's.
const (
	AreaWorkload   = "workload"           // the laboratory itself: draws, comparisons, the clock
	AreaSQL        = "SQL"                // SQLite in Go: parser, planner, virtual machine
	AreaDatabase   = "database/sql"       //
	AreaDriver     = "driver"             // the Go part of a driver, or what maps objects to it
	AreaEngine     = "b-tree and pager"   // of SQLite in Go, of Folio's engine, or of another store
	AreaFileSystem = "file system"        // what makes of names and offsets calls of the system: package os, a VFS, a volume
	AreaC          = "cgo"                // calls into C, and all that is done there, system calls included: Go cannot look inside
	AreaSystem     = "system calls"       // made by Go
	AreaAllocation = "allocation"         //
	AreaGC         = "garbage collection" //
	AreaScheduler  = "scheduler"          // goroutines and threads: waking, parking, locks, growing stacks
	AreaOther      = "other"              //
)

// Areas are all of them, from the work down to the machine.
var Areas = []string{
	AreaWorkload, AreaSQL, AreaDatabase, AreaDriver, AreaEngine, AreaFileSystem, AreaC, AreaSystem, AreaAllocation, AreaGC, AreaScheduler, AreaOther,
}
