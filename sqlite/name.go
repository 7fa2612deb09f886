package sqlite

import (
	"fmt"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/foliofs/folio/internal/sql/syntax"
)

// A source is the name of a data source: a path with options.
type source struct {
	path     string
	options  Options
	settings settings
	pragmas  []string // statements that each connection begins with
	shared   bool     // cache=shared
	memory   bool     // mode=memory
}

// parseName reads the name of a data source. The path goes up to the first "?", or the last one if
// the name is no URI.
func parseName(name string) (*source, error) {
	path, query, _ := strings.Cut(name, "?")
	s := &source{path: path, options: Options{Create: true}}
	s.settings.busy = defaultBusyTimeout
	if uri, ok := strings.CutPrefix(path, "file:"); ok {
		var err error
		if s.path, err = uriPath(uri); err != nil {
			return nil, fmt.Errorf("the name of the database: %w", err)
		}
	}
	for option := range strings.SplitSeq(query, "&") { // the order of pragmas counts
		key, value, _ := strings.Cut(option, "=")
		key, err := url.QueryUnescape(key)
		if err == nil {
			value, err = url.QueryUnescape(value)
		}
		if err == nil && key != "" {
			err = s.set(key, value)
		}
		if err != nil {
			return nil, fmt.Errorf("the options of the database: %w", err)
		}
	}
	if s.memory || isMemory(s.path) {
		if s.shared {
			s.options.shared = "file:" + s.path
		}
		s.path = ":memory:"
	}
	s.options.BusyTimeout = s.settings.busy
	return s, nil
}

// open opens the database.
func (s *source) open() (*DB, error) {
	db, err := Open(s.path, &s.options)
	if err != nil {
		return nil, err
	}
	s.settings.readOnly = db.settings.Load().readOnly
	db.settings.Store(&s.settings)
	db.pragmas = s.pragmas
	return db, nil
}

// uriPath returns the path of a URI, from behind its "file:".
func uriPath(uri string) (string, error) {
	uri, _, _ = strings.Cut(uri, "#")
	if rest, ok := strings.CutPrefix(uri, "//"); ok {
		host, path, _ := strings.Cut(rest, "/")
		if host != "" && host != "localhost" {
			return "", fmt.Errorf("invalid uri authority: %s", host)
		}
		uri = "/" + path
	}
	return url.PathUnescape(uri)
}

// aliases are the names of go-sqlite3 for pragmas, without the underscore.
var aliases = map[string]string{
	"timeout": "busy_timeout", "fk": "foreign_keys", "journal": "journal_mode", "sync": "synchronous", "rt": "recursive_triggers",
	"defer_fk": "defer_foreign_keys", "vacuum": "auto_vacuum", "locking": "locking_mode", "cslike": "case_sensitive_like",
}

// options are the pragmas that go-sqlite3 has options for.
var options = " auto_vacuum busy_timeout cache_size case_sensitive_like defer_foreign_keys foreign_keys ignore_check_constraints " +
	"journal_mode locking_mode query_only recursive_triggers secure_delete synchronous writable_schema "

// set sets one option.
func (s *source) set(key, value string) error {
	switch key {
	case "mode":
		return s.setMode(value)
	case "cache":
		s.shared = value == "shared"
	case "immutable":
		if s.options.Immutable = isOn(value); s.options.Immutable {
			s.options.Create = false
		}
	case "_txlock":
		mode, ok := lockModes[value]
		if !ok {
			return fmt.Errorf("invalid _txlock: %v, expecting value of 'deferred' 'immediate' 'exclusive'", value)
		}
		s.settings.mode = mode
	case "_loc":
		return s.setLocation(value)
	case "_pragma":
		name, argument, _ := strings.Cut(strings.TrimSuffix(value, ")"), "(")
		if argument == "" {
			name, argument, _ = strings.Cut(value, "=")
		}
		return s.setPragma(strings.TrimSpace(name), strings.TrimSpace(argument))
	case "_time_format":
		if value != "sqlite" {
			return unsupportedOption("the option _time_format=" + value)
		}
	case "vfs", "nolock", "psow", "_mutex", "_stmt_cache_size":
	default:
		name, ok := strings.CutPrefix(key, "_")
		if other := aliases[name]; other != "" {
			name = other
		}
		if !ok || !strings.Contains(options, " "+name+" ") {
			return unsupportedOption("the option " + key)
		}
		return s.setPragma(name, value)
	}
	return nil
}

var lockModes = map[string]syntax.TransactionMode{
	"deferred": syntax.ModeDeferred, "immediate": syntax.ModeImmediate, "exclusive": syntax.ModeExclusive,
}

// setMode sets the option mode of a URI.
func (s *source) setMode(mode string) error {
	switch mode {
	case "memory":
		s.memory = true
	case "ro":
		s.options.ReadOnly, s.options.Create = true, false
	case "rw":
		s.options.Create = false
	case "rwc":
	default:
		return fmt.Errorf("no such access mode: %s", mode)
	}
	return nil
}

// setLocation sets the time zone of the times that columns have.
func (s *source) setLocation(name string) (err error) {
	if s.settings.location = time.Local; name != "auto" {
		s.settings.location, err = time.LoadLocation(name)
	}
	return err
}

// setPragma lets each connection begin with a pragma, if that is not a setting that all begin with.
func (s *source) setPragma(name, value string) error {
	name = strings.ToLower(name)
	if known, err := s.settings.set(name, value); known || err != nil {
		return err
	}
	if name == "journal_mode" {
		s.options.JournalMode = journalModes[strings.ToLower(value)]
	}
	if name == "page_size" {
		s.options.PageSize, _ = strconv.Atoi(value)
	}
	statement := "PRAGMA " + name
	if value != "" {
		statement += " = " + value
	}
	u, err := parse(statement)
	if err != nil {
		return err
	}
	if _, ok := u.Statement.(*syntax.Pragma); !ok || u.rest != "" {
		return fmt.Errorf("%q is no pragma", name)
	}
	s.pragmas = append(s.pragmas, statement)
	return nil
}
