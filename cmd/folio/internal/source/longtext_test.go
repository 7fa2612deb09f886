package source

import (
	"errors"
	"fmt"
	"strings"
	"testing"
)

// TestLongTexts checks that a text of 2 MB where a name, a number or a setting belongs is an error
// that is short, and that it is not read.
func TestLongTexts(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("x", 2_000_000)
	agent := func(change func(a *agentDB)) func(t *testing.T) error {
		return func(t *testing.T) error {
			a := newAgent()
			a.file(2, "f", "content")
			change(a)
			_, err := a.collect(t, nil)
			return err
		}
	}
	litefs := func(row ...any) func(t *testing.T) error {
		return func(t *testing.T) error {
			_, err := collectLitefs(t, row)
			return err
		}
	}
	sqlar := func(row ...any) func(t *testing.T) error {
		return func(t *testing.T) error {
			src, err := trySqlar(t, "CREATE TABLE sqlar(name TEXT, mode, mtime, sz, data BLOB)", row)
			if err == nil {
				_, err = collect(src)
			}
			return err
		}
	}
	for name, run := range map[string]func(t *testing.T) error{
		"name":      agent(func(a *agentDB) { a.name(1, long, 2) }),
		"inode":     agent(func(a *agentDB) { a.names = append(a.names, []any{int64(9), "g", int64(1), long}) }),
		"mode":      agent(func(a *agentDB) { a.inodes[1][1] = long }),
		"time":      agent(func(a *agentDB) { a.inodes[1][7] = long }),
		"setting":   agent(func(a *agentDB) { a.config[0][1] = long }),
		"key":       agent(func(a *agentDB) { a.config[0][0] = long }),
		"base":      agent(func(a *agentDB) { a.more["fs_overlay_config"] = [][]any{{"base_path", long}} }),
		"whiteout":  agent(func(a *agentDB) { a.more["fs_whiteout"] = [][]any{{long, 1}} }),
		"id":        litefs(long, nil, "a", "", []byte("x")),
		"parent":    litefs("1", long, "a", "", []byte("x")),
		"file":      litefs("1", nil, long, "", []byte("x")),
		"modtime":   litefs("1", nil, "a", long, []byte("x")),
		"member":    sqlar(long, 0o100644, 1, 1, []byte("x")),
		"its mode":  sqlar("a", long, 1, 1, []byte("x")),
		"its size":  sqlar("a", 0o100644, 1, long, []byte("x")),
		"its mtime": sqlar("a", 0o100644, long, 1, []byte("x")),
	} {
		t.Run(name, func(t *testing.T) {
			err := run(t)
			if !errors.Is(err, ErrDamaged) || len(fmt.Sprint(err)) > 300 {
				t.Errorf("got %.300v", err)
			}
		})
	}
}
