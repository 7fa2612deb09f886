package tree

import (
	"os"
	"runtime"
	"strings"
)

// KeepsXattr reports whether an extended attribute goes from disk or out of an archive into a
// volume, and from there to disk. For root these are, on Linux, all but those of the system itself,
// such as access control lists: file capabilities are among them. For other users they are those of
// users, user.*, because the system lets nobody else set the others.
func KeepsXattr(name string) bool {
	if strings.HasPrefix(name, "user.") {
		return true
	}
	return runtime.GOOS == "linux" && os.Geteuid() == 0 && (strings.HasPrefix(name, "trusted.") || strings.HasPrefix(name, "security."))
}
