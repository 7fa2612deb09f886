package recovery

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"testing"
)

// The test's program is every other process as well: started with this variable it plays a role
// from roles instead of running tests. The rest of the variable is the role's setting.
const roleVariable = "FOLIO_RECOVERY_ROLE"

var roles = map[string]func(s *setting) error{
	"write":   writeRole,
	"recover": recoverRole,
	"bank":    bankRole,
	"watch":   watchRole,
	"attach":  attachRole,
}

// A part is the work of a process.
type part struct {
	Role    string
	Setting setting
}

func TestMain(m *testing.M) {
	text := os.Getenv(roleVariable)
	if text == "" {
		os.Exit(m.Run())
	}
	var p part
	err := json.Unmarshal([]byte(text), &p)
	if err == nil {
		err = roles[p.Role](&p.Setting)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// command returns the command of a process.
func command(role string, s *setting, wrapper ...string) *exec.Cmd {
	text, err := json.Marshal(part{role, *s})
	if err != nil {
		panic(err)
	}
	args := append(wrapper, os.Args[0])
	cmd := exec.Command(args[0], args[1:]...)
	cmd.Env = append(os.Environ(), roleVariable+"="+string(text))
	cmd.Stderr = os.Stderr
	return cmd
}

// writeRole plays the steps of a setting, and says which version is committed. All that it does it
// does in one thread, as far as it can, for strace counts by thread.
func writeRole(s *setting) error {
	runtime.LockOSThread()
	w, err := s.open()
	if err != nil {
		return err
	}
	return s.play(w, func(version int64) error {
		_, err := fmt.Println(version)
		return err
	})
}

// recoverRole opens a database and reads it.
func recoverRole(s *setting) (err error) {
	runtime.LockOSThread()
	if s.Engine == "c" {
		_, err = recoverC(s.Path)
	} else {
		_, err = recoverOurs(s.Path)
	}
	return err
}
