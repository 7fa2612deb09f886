package volumetest

import (
	"strings"
	"testing"

	"github.com/foliofs/folio"
	"github.com/foliofs/folio/internal/must"
)

// A viewCase runs statements on view file, in a volume that has nothing else.
type viewCase struct {
	sql  string
	fail string // the message of the last statement; "" if it succeeds
	want string // then: path and content of each file
}

var viewCases = map[string]viewCase{
	"rename two levels": {
		tree("foo") + "INSERT INTO file (path, content) VALUES ('foo/foo.txt', 'FOO'); UPDATE file SET path = replace(path, 'foo', 'bar'), content = CASE type WHEN 'file' THEN content || '!' END",
		"", "bar|\nbar/bar.txt|FOO!",
	},
	"rename onto another file": {
		tree("foo") + "INSERT INTO file (path, content) VALUES ('foo/foo.txt', 'FOO'), ('foo/bar.txt', 'BAR'); UPDATE file SET path = replace(path, 'foo', 'bar'), content = CASE type WHEN 'file' THEN content || '!' END WHERE path <> 'foo/bar.txt'",
		"there is a file of the new path", "foo|\nfoo/bar.txt|BAR\nfoo/foo.txt|FOO",
	},
	"write what moves with its directory": {
		tree("foo") + "INSERT INTO file (path, content) VALUES ('foo/f', 'old'); UPDATE file SET path = CASE type WHEN 'dir' THEN 'bar' ELSE path END, content = CASE type WHEN 'file' THEN 'new' END",
		"", "bar|\nbar/f|new",
	},
	"write what takes another's path": {
		"INSERT INTO file (path, content) VALUES ('a', '1'), ('b', '2'); UPDATE file SET path = CASE path WHEN 'a' THEN 'c' ELSE 'a' END, content = content || path",
		"", "a|2b\nc|1a",
	},
	"swap": {
		"INSERT INTO file (path, content) VALUES ('a', '1'), ('b', '2'); UPDATE file SET path = CASE path WHEN 'a' THEN 'b' ELSE 'a' END",
		"there is a file of the new path", "a|1\nb|2",
	},
	"a path that has become a directory": {
		tree("a", "b", "b/f") + "INSERT INTO file (path, content) VALUES ('a/f', 'x'); UPDATE file SET path = CASE path WHEN 'a' THEN 'c' WHEN 'b' THEN 'a' WHEN 'a/f' THEN 'a/f/g' END WHERE path IN ('a', 'b', 'a/f')",
		"", "a|\na/f|\na/f/g|x\nc|",
	},
	"a directory into itself": {
		tree("a", "a/b") + "UPDATE file SET path = 'a/b/c' WHERE path = 'a'", "a directory cannot move into itself", "a|\na/b|",
	},
	"a directory into itself, which has moved": {
		tree("s", "s/d", "t") + "UPDATE file SET path = CASE path WHEN 's' THEN 'u' WHEN 't' THEN 's' ELSE 'u/d/e' END",
		"a directory cannot move into itself", "s|\ns/d|\nt|",
	},
	"a row twice": {
		"INSERT INTO file (path, content) VALUES ('a', '1'), ('b', '2'); UPDATE file SET path = n FROM (SELECT 'a' AS o, 'x' AS n UNION ALL SELECT 'b', 'a' UNION ALL SELECT 'a', 'y') WHERE o = path",
		"there is no such file any more", "a|1\nb|2",
	},
	"numbers of inodes": {tree("a") + "UPDATE file SET ino = 9", "ino and parent cannot be set", "a|"},
	"a copy of all columns": {
		"INSERT INTO file (path, content, mode) VALUES ('a', 'x', '0600'); INSERT INTO file SELECT path || 'a', type, mode, size, mtime, content, ino, parent FROM file", "", "a|x\naa|x",
	},
	"a size alone":       {"INSERT INTO file (path, size) VALUES ('a', 5)", "size follows from content", ""},
	"a size of 0":        {"INSERT INTO file (path, size) VALUES ('a', 0)", "", "a|"},
	"path a number":      {"INSERT INTO file (path) VALUES (5)", "path must be a text", ""},
	"path set":           {tree("a") + "UPDATE file SET path = 5", "path must be a text", "a|"},
	"path set to a real": {tree("a") + "UPDATE file SET path = 1.5", "path must be a text", "a|"},
	"mode a number":      {"INSERT INTO file (path, mode) VALUES ('a', 420)", "mode must be a text of 1 to 4 octal digits, as in '0644'", ""},
	"mode set":           {tree("a") + "UPDATE file SET mode = 493", "mode must be a text", "a|"},
}

// tree makes directories.
func tree(names ...string) string {
	return "INSERT INTO file (path, type) VALUES ('" + strings.Join(names, "', 'dir'), ('") + "', 'dir');"
}

func TestFileView(t *testing.T) {
	t.Parallel()
	for name, test := range viewCases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			v, path := viewVolume(t)
			at := strings.LastIndex(test.sql, ";") + 1
			if at > 0 {
				sqlite(t, path, test.sql[:at])
			}
			if test.fail == "" {
				sqlite(t, path, test.sql[at:])
			} else if got := sqliteFails(t, path, test.sql[at:]); !strings.Contains(got, "file: "+test.fail) {
				t.Errorf("%s: want %s", got, test.fail)
			}
			if got := sqlite(t, path, "SELECT path, content FROM file ORDER BY path"); got != test.want {
				t.Errorf("%q, want %q", got, test.want)
			}
			WantClean(t, v)
		})
	}
}

func viewVolume(t *testing.T) (v *folio.Volume, path string) {
	v = Empty(t)
	info, err := v.Info(t.Context())
	must.Do(t, err)
	return v, info.Path
}

// TestFileViewTimes sets times of all kinds: a file has the time, or the statement fails.
func TestFileViewTimes(t *testing.T) {
	t.Parallel()
	for value, want := range map[string]string{
		"'2026-01-31T12:00:00Z'":     "1769860800000000000|2026-01-31T12:00:00Z",
		"1769860800":                 "1769860800000000000|2026-01-31T12:00:00Z",
		"5.25":                       "5250000000|1970-01-01T00:00:05Z",
		"'1969-12-31T23:59:58.5Z'":   "-1500000000|1969-12-31T23:59:58Z",
		"-1.5":                       "-1500000000|1969-12-31T23:59:58Z",
		"'1677-09-21 00:12:44'":      "-9223372036000000000|1677-09-21T00:12:44Z",
		"'2262-04-11T23:47:16.854Z'": "9223372036854000000|2262-04-11T23:47:16Z",
		"'2262-04-11T23:47:16.855Z'": "", "'1677-09-21 00:12:43'": "", "'9999-12-31'": "", "'0001-01-01'": "", "'1e3'": "", "'soon'": "", "x'00'": "",
		"9223372036": "9223372036000000000|2262-04-11T23:47:16Z",
		"9223372037": "", "9223372036.9": "", "9223372036854775807": "", "1e18": "", "-1e18": "", "9e999": "",
	} {
		t.Run(value, func(t *testing.T) {
			t.Parallel()
			v, path := viewVolume(t)
			must.Do(t, v.WriteFile("old", nil, 0o644))
			for _, sql := range []string{"INSERT INTO file (path, mtime) VALUES ('new', " + value + ")", "UPDATE file SET mtime = " + value + " WHERE path = 'old'"} {
				if want != "" {
					sqlite(t, path, sql)
				} else if got := sqliteFails(t, path, sql); !strings.Contains(got, "file: mtime must be a time between 1678 and 2262") {
					t.Error(got)
				}
			}
			if want != "" {
				query := "SELECT mtime_ns, mtime FROM file JOIN node USING (ino)"
				if got := sqlite(t, path, query); got != want+"\n"+want {
					t.Errorf("%q, want twice %q", got, want)
				}
				sqlite(t, path, "UPDATE file SET mode = '600', path = path || 2")
			}
			WantClean(t, v)
		})
	}
}

// TestFileViewTimeBelow shows and keeps the least time that a file can have, which no statement
// sets.
func TestFileViewTimeBelow(t *testing.T) {
	t.Parallel()
	v, path := viewVolume(t)
	must.Do(t, v.WriteFile("f", nil, 0o644))
	sqlite(t, path, "UPDATE node SET mtime_ns = -9223372036854775808 WHERE ino > 1; UPDATE file SET path = 'g'")
	if got := sqlite(t, path, "SELECT path, mtime, mtime_ns FROM file JOIN node USING (ino)"); got != "g|1677-09-21T00:12:43Z|-9223372036854775808" {
		t.Error(got)
	}
	must.Do(t, v.CreateSnapshot(t.Context(), "s"))
	if got := sqlite(t, path, "SELECT mtime FROM file_at"); got != "1677-09-21T00:12:43Z" {
		t.Error(got)
	}
	WantClean(t, v)
}

// TestFileViewSame sets values that are the same as before, which changes nothing.
func TestFileViewSame(t *testing.T) {
	t.Parallel()
	for _, set := range []string{"content = 'hello'", "content = CAST('hello' AS BLOB)", "content = replace(CAST(content AS TEXT), 'x', 'y')", "mode = '644'", "mode = mode, mtime = mtime, path = path, size = 5"} {
		v, path := viewVolume(t)
		sqlite(t, path, "INSERT INTO file (path, content, mtime) VALUES ('f', 'hello', '2020-01-01'); UPDATE node SET ctime_ns = 0; UPDATE file SET "+set)
		if got := sqlite(t, path, "SELECT mtime, ctime_ns, CAST(content AS TEXT), file.mode FROM file JOIN node USING (ino)"); got != "2020-01-01T00:00:00Z|0|hello|0644" {
			t.Errorf("%s: %s", set, got)
		}
		WantClean(t, v)
	}
}

// TestFileViewColumns holds docs/howto/sql.md to the columns of the view.
func TestFileViewColumns(t *testing.T) {
	t.Parallel()
	v, path := viewVolume(t)
	must.Do(t, v.MkdirAll("d/e", 0o755))
	must.Do(t, v.WriteFile("d/e/f", nil, 0o644))
	want := "path|type|mode|size|mtime|content|ino|parent\nd/e/f|4|3"
	if got := sqlite(t, path, "SELECT group_concat(name, '|') FROM pragma_table_info('file'); SELECT path, ino, parent FROM file WHERE path = 'd/e/f'"); got != want {
		t.Errorf("%q, want %q", got, want)
	}
}
