package runner

import (
	"os/exec"
	"runtime"
	"strings"

	"github.com/foliofs/folio/lab/result"
)

// machine describes this machine. It leaves unknown values out.
func machine(source string) result.Machine {
	m := result.Machine{OS: runtime.GOOS, Arch: runtime.GOARCH, Cores: runtime.NumCPU(), Go: runtime.Version(), Compiler: compiler(), Revision: revision(source)}
	describeSystem(&m)
	return m
}

// compiler is the C compiler that Go would use; "" if there is none.
func compiler() string {
	cc := firstLine("go", "env", "CC")
	if cc == "" {
		return ""
	}
	return firstLine(strings.Fields(cc)[0], "--version")
}

// revision is the commit of the source, where there is one.
func revision(dir string) string {
	rev := firstLine("git", "-C", dir, "rev-parse", "HEAD")
	if rev != "" && firstLine("git", "-C", dir, "status", "--porcelain", "--untracked-files=no") != "" {
		rev += "+changes"
	}
	return rev
}

// firstLine returns the first line that a command prints; "" if it fails.
func firstLine(name string, args ...string) string {
	out, err := exec.Command(name, args...).Output()
	if err != nil {
		return ""
	}
	line, _, _ := strings.Cut(string(out), "\n")
	return strings.TrimSpace(line)
}
