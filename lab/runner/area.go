package runner

import (
	"strings"

	"github.com/foliofs/folio/lab/result"
)

// A rule gives an area to the functions whose names begin so.
type rule struct{ prefix, area string }

// first finds the first rule for a name; "" if there is none.
func first(rules []rule, name string) string {
	for _, r := range rules {
		if strings.HasPrefix(name, r.prefix) {
			return r.area
		}
	}
	return ""
}

// area is what a stack, from the innermost function outwards, was busy with. Frames of Go's runtime are looked at together up to the
// function that called them, since one piece of work of the runtime is part of another: an allocation that helps the collector is
// collecting.
func area(stack []string) string {
	inRuntime := ""
	for _, name := range stack {
		if strings.HasPrefix(name, "runtime.") {
			inRuntime = heavier(inRuntime, runtimeArea(name))
			continue
		}
		if inRuntime != "" {
			return inRuntime
		}
		if a := packageArea(name); a != "" {
			return a
		}
	}
	switch {
	case inRuntime != "":
		return inRuntime
	case len(stack) > 0 && strings.HasPrefix(stack[len(stack)-1], "runtime."):
		return result.AreaScheduler // nobody but the runtime is on it
	}
	return result.AreaOther
}

// weights of the areas that the runtime works in: which one wins where several are on a stack.
var weights = map[string]int{result.AreaGC: 4, result.AreaAllocation: 3, result.AreaC: 2, result.AreaSystem: 1, result.AreaScheduler: 1}

// heavier is the area that wins; of equals that of the inner function.
func heavier(inner, outer string) string {
	if weights[outer] > weights[inner] {
		return outer
	}
	return inner
}

// runtimeRules are for functions of package runtime. Those that are not named work for their callers.
var runtimeRules = []rule{
	{"gc", result.AreaGC},
	{"GC", result.AreaGC},
	{"bgsweep", result.AreaGC},
	{"bgscavenge", result.AreaGC},
	{"scan", result.AreaGC},
	{"greyobject", result.AreaGC},
	{"markroot", result.AreaGC},
	{"sweepone", result.AreaGC},
	{"wbBufFlush", result.AreaGC},
	{"wbMove", result.AreaGC},
	{"bulkBarrier", result.AreaGC},
	{"typeBitsBulkBarrier", result.AreaGC},
	{"(*sweepLocked)", result.AreaGC},
	{"(*gcWork)", result.AreaGC},
	{"(*gcControllerState)", result.AreaGC},
	{"(*wbBuf)", result.AreaGC},
	{"(*spanQueue)", result.AreaGC},
	{"tryDeferToSpanScan", result.AreaGC},

	{"mallocgc", result.AreaAllocation},
	{"newobject", result.AreaAllocation},
	{"makeslice", result.AreaAllocation},
	{"growslice", result.AreaAllocation},
	{"rawstring", result.AreaAllocation},
	{"rawbyteslice", result.AreaAllocation},
	{"(*mcache)", result.AreaAllocation},
	{"(*mcentral)", result.AreaAllocation},
	{"(*mheap)", result.AreaAllocation},
	{"profilealloc", result.AreaAllocation},

	{"cgo", result.AreaC},
	{"asmcgocall", result.AreaC},

	{"entersyscall", result.AreaSystem},
	{"exitsyscall", result.AreaSystem},
	{"reentersyscall", result.AreaSystem},

	{"mcall", result.AreaScheduler},
	{"park", result.AreaScheduler},
	{"gopark", result.AreaScheduler},
	{"goready", result.AreaScheduler},
	{"ready", result.AreaScheduler},
	{"gosched", result.AreaScheduler},
	{"goexit0", result.AreaScheduler},
	{"newproc", result.AreaScheduler},
	{"schedule", result.AreaScheduler},
	{"findRunnable", result.AreaScheduler},
	{"wakep", result.AreaScheduler},
	{"startm", result.AreaScheduler},
	{"stopm", result.AreaScheduler},
	{"mstart", result.AreaScheduler},
	{"sysmon", result.AreaScheduler},
	{"retake", result.AreaScheduler},
	{"handoffp", result.AreaScheduler},
	{"netpoll", result.AreaScheduler},
	{"note", result.AreaScheduler},
	{"futex", result.AreaScheduler},
	{"usleep", result.AreaScheduler},
	{"osyield", result.AreaScheduler},
	{"lock", result.AreaScheduler},
	{"unlock", result.AreaScheduler},
	{"sema", result.AreaScheduler},
	{"selectgo", result.AreaScheduler},
	{"chansend", result.AreaScheduler},
	{"chanrecv", result.AreaScheduler},
	{"newstack", result.AreaScheduler},
	{"morestack", result.AreaScheduler},
	{"copystack", result.AreaScheduler},
	{"sig", result.AreaScheduler},
	{"asyncPreempt", result.AreaScheduler},
	{"(*timers)", result.AreaScheduler},
}

func runtimeArea(name string) string {
	return first(runtimeRules, strings.TrimPrefix(name, "runtime."))
}

// packageRules are for all others, the longer prefix first. Packages that are not named, such as fmt and sync, work for their
// callers.
var packageRules = []rule{
	{"main.", result.AreaWorkload},
	{"github.com/foliofs/folio/lab/", result.AreaWorkload},
	{"runtime/pprof.", result.AreaWorkload},

	{"database/sql", result.AreaDatabase},
	{"github.com/mattn/go-sqlite3.", result.AreaDriver},
	{"github.com/ncruces/go-sqlite3/vfs", result.AreaFileSystem},
	{"github.com/ncruces/go-sqlite3", result.AreaDriver},
	{"github.com/glebarez/", result.AreaDriver},
	{"github.com/tailscale/sqlite", result.AreaDriver},
	{"github.com/jackc/", result.AreaDriver},
	{"crawshaw.io/sqlite", result.AreaDriver},
	{"zombiezen.com/go/sqlite", result.AreaDriver},
	{"gorm.io/", result.AreaDriver},
	{"modernc.org/sqlite", result.AreaDriver},
	{"modernc.org/memory.", result.AreaAllocation},
	{"modernc.org/libc.Xmalloc", result.AreaAllocation},
	{"modernc.org/libc.Xcalloc", result.AreaAllocation},
	{"modernc.org/libc.Xrealloc", result.AreaAllocation},
	{"modernc.org/libc.Xfree", result.AreaAllocation},

	{"github.com/foliofs/folio/sqlitefile", result.AreaEngine},
	{"github.com/foliofs/folio/internal/format", result.AreaEngine},
	{"github.com/foliofs/folio/internal/ddl", result.AreaEngine},
	{"github.com/foliofs/folio", result.AreaFileSystem},
	{"go.etcd.io/bbolt", result.AreaEngine},
	{"github.com/cockroachdb/", result.AreaEngine},

	{"syscall.", result.AreaSystem},
	{"internal/runtime/syscall", result.AreaSystem},
	{"internal/syscall/", result.AreaSystem},
	{"golang.org/x/sys/", result.AreaSystem},
	{"os.", result.AreaFileSystem},
	{"io/fs.", result.AreaFileSystem},
	{"path/filepath.", result.AreaFileSystem},
}

func packageArea(name string) string {
	if c, ok := translated(name); ok {
		return sqliteArea(c)
	}
	if strings.HasPrefix(name, wasm) {
		return "" // loads and stores
	}
	if strings.Contains(name, "._Cfunc_") || strings.HasPrefix(name, "_cgo_") {
		return result.AreaC
	}
	return first(packageRules, name)
}

// wasm is the package into which ncruces's SQLite was translated.
const wasm = "github.com/ncruces/go-sqlite3-wasm"

// translated is the name that a function of SQLite has in C, where it was translated to Go.
func translated(name string) (c string, ok bool) {
	if c, ok = strings.CutPrefix(name, "modernc.org/sqlite/lib."); !ok {
		if !strings.HasPrefix(name, wasm) {
			return "", false
		}
		if _, c, ok = strings.Cut(name, ".(*Module)."); !ok {
			return "", false
		}
	}
	return strings.TrimLeft(c, "_X"), true
}

// sqliteRules are for functions of SQLite: those of its files btree.c, pager.c, pcache.c and wal.c, of its VFS, and of its
// memory. All others are SQL.
var sqliteRules = []rule{
	{"sqlite3Walk", result.AreaSQL}, // of an expression
	{"walk", result.AreaSQL},
	{"sqlite3Btree", result.AreaEngine},
	{"sqlite3Pager", result.AreaEngine},
	{"sqlite3Pcache", result.AreaEngine},
	{"sqlite3PCache", result.AreaEngine},
	{"sqlite3Wal", result.AreaEngine},
	{"sqlite3Bitvec", result.AreaEngine},
	{"btree", result.AreaEngine},
	{"pager", result.AreaEngine},
	{"pcache", result.AreaEngine},
	{"page", result.AreaEngine},
	{"wal", result.AreaEngine},
	{"ptrmap", result.AreaEngine},
	{"balance", result.AreaEngine},
	{"moveTo", result.AreaEngine},
	{"getPage", result.AreaEngine},
	{"getAndInitPage", result.AreaEngine},
	{"getCellInfo", result.AreaEngine},
	{"getOverflowPage", result.AreaEngine},
	{"cellSize", result.AreaEngine},
	{"computeCellSize", result.AreaEngine},
	{"cachedCellSize", result.AreaEngine},
	{"indexCellCompare", result.AreaEngine},
	{"accessPayload", result.AreaEngine},
	{"fetchPayload", result.AreaEngine},
	{"insertCell", result.AreaEngine},
	{"dropCell", result.AreaEngine},
	{"clearCell", result.AreaEngine},
	{"fillInCell", result.AreaEngine},
	{"editPage", result.AreaEngine},
	{"rebuildPage", result.AreaEngine},
	{"releasePage", result.AreaEngine},
	{"freePage", result.AreaEngine},
	{"zeroPage", result.AreaEngine},
	{"decodeFlags", result.AreaEngine},
	{"copyNodeContent", result.AreaEngine},
	{"allocateSpace", result.AreaEngine},
	{"allocateBtreePage", result.AreaEngine},
	{"freeSpace", result.AreaEngine},
	{"defragmentPage", result.AreaEngine},
	{"saveCursor", result.AreaEngine},
	{"saveAllCursors", result.AreaEngine},
	{"cursorOwns", result.AreaEngine},
	{"lockBtree", result.AreaEngine},
	{"unlockBtree", result.AreaEngine},
	{"readDbPage", result.AreaEngine},
	{"readJournalHdr", result.AreaEngine},
	{"writeJournalHdr", result.AreaEngine},
	{"syncJournal", result.AreaEngine},
	{"subjournal", result.AreaEngine},

	{"sqlite3Os", result.AreaFileSystem},
	{"unix", result.AreaFileSystem},
	{"window", result.AreaSQL},
	{"win", result.AreaFileSystem}, // of Windows
	{"posix", result.AreaFileSystem},
	{"robust", result.AreaFileSystem},
	{"seekAnd", result.AreaFileSystem},
	{"memjrnl", result.AreaFileSystem},
	{"findInodeInfo", result.AreaFileSystem},
	{"go_", result.AreaFileSystem}, // of ncruces, whose VFS is in Go

	{"sqlite3Malloc", result.AreaAllocation},
	{"sqlite3DbMalloc", result.AreaAllocation},
	{"sqlite3DbFree", result.AreaAllocation},
	{"sqlite3DbRealloc", result.AreaAllocation},
	{"sqlite3Realloc", result.AreaAllocation},
	{"sqlite3MemMalloc", result.AreaAllocation},
	{"sqlite3MemRealloc", result.AreaAllocation},
	{"sqlite3MemFree", result.AreaAllocation},
	{"sqlite3_free", result.AreaAllocation},
	{"sqlite3_malloc", result.AreaAllocation},
	{"sqlite3_realloc", result.AreaAllocation},
	{"malloc", result.AreaAllocation},
	{"realloc", result.AreaAllocation},
}

func sqliteArea(c string) string {
	if a := first(sqliteRules, c); a != "" {
		return a
	}
	return result.AreaSQL
}
