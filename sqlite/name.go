package sqlite

import (
	"fmt"
	"net/url"
	"strconv"
	"strings"
	"time"
)

// writing are options and pragmas that are about writing, or about the memory of SQLite: they have
// no effect.
var writing = " journal_mode synchronous foreign_keys cache_size temp_store mmap_size journal_size_limit wal_autocheckpoint " +
	"auto_vacuum secure_delete locking_mode recursive_triggers defer_foreign_keys ignore_check_constraints " +
	"trusted_schema query_only "

// parseName splits the name of a data source into a path and options.
func parseName(name string) (path string, o *Options, err error) {
	o = &Options{}
	path, query, _ := strings.Cut(name, "?")
	if uri, ok := strings.CutPrefix(path, "file:"); ok {
		if path, err = url.PathUnescape(strings.TrimPrefix(uri, "//")); err != nil {
			return "", nil, fmt.Errorf("the name of the database: %w", err)
		}
	}
	if path == "" || path == ":memory:" {
		return "", nil, unsupportedOption("a database in memory")
	}
	values, err := url.ParseQuery(query)
	if err != nil {
		return "", nil, fmt.Errorf("the options of the database: %w", err)
	}
	for key, list := range values {
		for _, value := range list {
			if err := o.set(key, value); err != nil {
				return "", nil, err
			}
		}
	}
	return path, o, nil
}

func unsupportedOption(what string) error {
	return &Error{Code: CodeError, Extended: CodeError, Message: "not supported yet: " + what}
}

// set sets one option.
func (o *Options) set(key, value string) error {
	switch name := strings.TrimPrefix(key, "_"); name {
	case "mode":
		if value == "memory" {
			return unsupportedOption("a database in memory")
		}
	case "immutable":
		o.Immutable = value != "0" && value != "false"
	case "busy_timeout", "timeout":
		return o.setTimeout(value)
	case "pragma":
		pragma, argument, _ := strings.Cut(strings.TrimSuffix(value, ")"), "(")
		if argument == "" {
			pragma, argument, _ = strings.Cut(value, "=")
		}
		return o.set("_"+strings.ToLower(strings.TrimSpace(pragma)), strings.TrimSpace(argument))
	case "cache", "txlock", "mutex", "time_format", "vfs", "journal", "sync", "fk", "rt", "vacuum", "locking", "ignore_check", "stmt_cache_size":
	default:
		if !strings.Contains(writing, " "+name+" ") {
			return unsupportedOption("the option " + key)
		}
	}
	return nil
}

func (o *Options) setTimeout(value string) error {
	ms, err := strconv.Atoi(value)
	if err != nil {
		return fmt.Errorf("the option busy_timeout: %q is no number of milliseconds", value)
	}
	if o.BusyTimeout = time.Duration(ms) * time.Millisecond; ms <= 0 {
		o.BusyTimeout = -1
	}
	return nil
}
