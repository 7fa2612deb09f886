package runner

import (
	"slices"
	"testing"

	"github.com/foliofs/folio/lab/result"
)

// Stacks are as profiles have them: the innermost function first.
func TestArea(t *testing.T) {
	t.Parallel()
	const folio = "github.com/foliofs/folio"
	for _, tt := range []struct {
		want  string
		stack []string
	}{
		{result.AreaC, []string{"runtime.cgocall", "github.com/mattn/go-sqlite3._Cfunc__sqlite3_step_internal", "github.com/mattn/go-sqlite3.(*SQLiteRows).Next"}},
		{result.AreaC, []string{"runtime.exitsyscallfast", "runtime.exitsyscall", "runtime.cgocall", "crawshaw.io/sqlite._Cfunc_sqlite3_step"}},
		{result.AreaC, []string{"github.com/mattn/go-sqlite3._Cfunc_sqlite3_bind_int64", "github.com/mattn/go-sqlite3.(*SQLiteStmt).bind"}},
		{result.AreaSystem, []string{"internal/runtime/syscall/linux.Syscall6", "syscall.RawSyscall6", "syscall.pread", "os.(*File).ReadAt", folio + "/internal/osfile.(*File).ReadAt"}},
		{result.AreaSystem, []string{"runtime.casgstatus", "runtime.reentersyscall", "runtime.entersyscall", "syscall.Syscall", "os.Open"}},
		{result.AreaSystem, []string{"internal/runtime/syscall/linux.Syscall6", "golang.org/x/sys/unix.Pread", "modernc.org/libc.Xpread64", "modernc.org/sqlite/lib._seekAndRead"}},
		{result.AreaGC, []string{"runtime.scanobject", "runtime.gcDrain", "runtime.gcBgMarkWorker.func2", "runtime.systemstack", "runtime.gcBgMarkWorker"}},
		{result.AreaGC, []string{"runtime.(*gcWork).tryGet", "runtime.gcDrainN", "runtime.gcAssistAlloc1", "runtime.mallocgc", "runtime.newobject", folio + ".(*Tx).WriteFile"}},
		{result.AreaAllocation, []string{"runtime.memclrNoHeapPointers", "runtime.mallocgcSmallNoscan", "runtime.mallocgc", "runtime.makeslice", "os.ReadFile"}},
		{result.AreaAllocation, []string{"modernc.org/memory.(*Allocator).UintptrMalloc", "modernc.org/libc.Xmalloc", "modernc.org/sqlite/lib._sqlite3MemMalloc"}},
		{result.AreaAllocation, []string{"github.com/ncruces/go-sqlite3-wasm/v6.load32[go.shape.uint64]", "github.com/ncruces/go-sqlite3-wasm/v6.(*Module)._sqlite3Malloc"}},
		{result.AreaScheduler, []string{"runtime.futex", "runtime.futexsleep", "runtime.notesleep", "runtime.stopm", "runtime.findRunnable", "runtime.schedule", "runtime.park_m", "runtime.mcall"}},
		{result.AreaScheduler, []string{"runtime.futex", "runtime.futexwakeup", "runtime.ready", "runtime.goready", "sync.(*Mutex).Unlock", folio + "/sqlitefile.(*DB).View"}},
		{result.AreaScheduler, []string{"runtime.nanotime"}},
		{result.AreaSQL, []string{"modernc.org/sqlite/lib._sqlite3VdbeExec", "modernc.org/sqlite/lib._sqlite3Step", "modernc.org/sqlite.(*conn).step"}},
		{result.AreaSQL, []string{"github.com/ncruces/go-sqlite3-wasm/v6.(*Module).Xsqlite3_step", "github.com/ncruces/go-sqlite3.(*Stmt).Step"}},
		{result.AreaSQL, []string{"modernc.org/sqlite/lib._sqlite3WalkExpr", "modernc.org/sqlite/lib._sqlite3ResolveExprNames"}},
		{result.AreaSQL, []string{"modernc.org/libc.Xstrlen", "modernc.org/sqlite/lib._sqlite3RunParser"}},
		{result.AreaEngine, []string{"runtime.memmove", "modernc.org/libc.Xmemcpy", "modernc.org/sqlite/lib._accessPayload", "modernc.org/sqlite/lib._sqlite3VdbeExec"}},
		{result.AreaEngine, []string{"github.com/ncruces/go-sqlite3-wasm/v6.(*Module)._sqlite3BtreeTableMoveto", "github.com/ncruces/go-sqlite3-wasm/v6.(*Module)._sqlite3VdbeExec"}},
		{result.AreaEngine, []string{"modernc.org/sqlite/lib._walFindFrame"}},
		{result.AreaEngine, []string{"cmpbody", "bytes.Compare", folio + "/sqlitefile.(*Rx).searchKey"}},
		{result.AreaEngine, []string{"go.etcd.io/bbolt.(*Cursor).seek"}},
		{result.AreaFileSystem, []string{"runtime.mapaccess2_faststr", folio + ".(*FS).resolve", folio + ".(*FS).Stat"}},
		{result.AreaFileSystem, []string{"modernc.org/sqlite/lib._unixLock", "modernc.org/sqlite/lib._sqlite3PagerSharedLock"}},
		{result.AreaFileSystem, []string{"strings.Index", "os.(*File).Name"}},
		{result.AreaDatabase, []string{"sync/atomic.(*Int64).Add", "database/sql.(*DB).conn"}},
		{result.AreaDriver, []string{"strconv.formatBits", "github.com/mattn/go-sqlite3.(*SQLiteStmt).bind", "database/sql.(*Stmt).Query"}},
		{result.AreaDriver, []string{"gorm.io/gorm.(*DB).Raw"}},
		{result.AreaWorkload, []string{"runtime.memequal", folio + "/lab/workload.mix", folio + "/lab/workload/kit.race.func1"}},
		{result.AreaWorkload, []string{"main.(*reader).get"}},
		{result.AreaOther, []string{"example.org/nobody.knows"}},
		{result.AreaOther, nil},
	} {
		if got := area(tt.stack); got != tt.want {
			t.Errorf("%q is %s, want %s", tt.stack, got, tt.want)
		}
	}
}

// Every area that a rule gives is one that the report knows.
func TestAreasKnown(t *testing.T) {
	t.Parallel()
	seen := make(map[string]bool)
	for _, r := range slices.Concat(runtimeRules, packageRules, sqliteRules) {
		seen[r.area] = true
	}
	for a := range seen {
		if !slices.Contains(result.Areas, a) {
			t.Errorf("%s is no area", a)
		}
	}
}
