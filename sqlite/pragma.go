package sqlite

import (
	"context"
	"errors"
	"strconv"
	"strings"
	"time"

	"github.com/foliofs/folio/internal/sql/bind"
	"github.com/foliofs/folio/internal/sql/syntax"
	"github.com/foliofs/folio/sqlitefile"
)

// A pragma runs one PRAGMA. The value is "" if there is none.
type pragma func(c *connection, ctx context.Context, name, value string) (*cursor, error)

// pragmas are the pragmas with a meaning. Others are ignored, as SQLite ignores those that it does
// not know.
var pragmas map[string]pragma

func init() {
	pragmas = map[string]pragma{
		"journal_mode": journalMode, "wal_checkpoint": checkpoint,
		"user_version": header, "application_id": header, "schema_version": header, "page_size": header, "page_count": header,
		"freelist_count": header, "encoding": header, "auto_vacuum": header, "data_version": header,
		"integrity_check": check, "quick_check": check,
		"wal_autocheckpoint": inert, "journal_size_limit": inert, "locking_mode": inert, "cache_size": inert, "cache_spill": inert, "temp_store": inert,
		"mmap_size": inert, "secure_delete": inert, "threads": inert, "trusted_schema": inert, "automatic_index": inert, "read_uncommitted": inert,
		"legacy_alter_table": inert, "max_page_count": inert,
		"case_sensitive_like": refuseOn, "ignore_check_constraints": refuseOn, "writable_schema": refuseOn, "reverse_unordered_selects": refuseOn,
		"cell_size_check": inert, "checkpoint_fullfsync": inert, "fullfsync": inert, "legacy_file_format": inert, "optimize": inert,
	}
}

// pragma runs a PRAGMA.
func (c *connection) pragma(ctx context.Context, n *syntax.Pragma) (*cursor, error) {
	if schema := n.Name.Schema.Text; schema != "" && !strings.EqualFold(schema, "main") && !strings.EqualFold(schema, "temp") {
		return nil, errorf(CodeError, "unknown database "+schema)
	}
	name, value := strings.ToLower(n.Name.Name.Text), n.Value.Text
	if n.Negative {
		value = "-" + value
	}
	if value != "" {
		if known, err := c.setInTransaction(name, value); known || err != nil {
			if name == "busy_timeout" && err == nil {
				return c.settings.row(name), nil
			}
			return &cursor{}, err
		}
	} else if r := c.settings.row(name); r != nil {
		return r, nil
	}
	if run := pragmas[name]; run != nil {
		return run(c, ctx, name, value)
	}
	return &cursor{}, nil
}

// setInTransaction is settings.set, which a transaction forbids for some settings: SQLite ignores
// foreign_keys there.
func (c *connection) setInTransaction(name, value string) (known bool, err error) {
	if c.txn.open {
		switch name {
		case "foreign_keys":
			return true, nil
		case "synchronous":
			return true, errorf(CodeError, "Safety level may not be changed inside a transaction")
		}
	}
	return c.settings.set(name, value)
}

// flags returns the settings that are on or off.
func (s *settings) flag(name string) *bool {
	switch name {
	case "foreign_keys":
		return &s.foreignKeys
	case "query_only":
		return &s.queryOnly
	case "recursive_triggers":
		return &s.recursiveTriggers
	case "defer_foreign_keys":
		return &s.deferForeignKeys
	}
	return nil
}

// durabilities are the values of PRAGMA synchronous.
var durabilities = []sqlitefile.Durability{sqlitefile.DurabilityOff, sqlitefile.DurabilityNormal, sqlitefile.DurabilityFull, sqlitefile.DurabilityExtra}

// set sets the setting that a pragma is about, if it is about one.
func (s *settings) set(name, value string) (known bool, err error) {
	if flag := s.flag(name); flag != nil {
		*flag = isOn(value)
		return true, nil
	}
	switch name {
	case "busy_timeout":
		ms, _ := strconv.Atoi(value)
		if s.busy = time.Duration(ms) * time.Millisecond; ms <= 0 {
			s.busy = -1
		}
		return true, nil
	case "synchronous":
		s.durability = sqlitefile.DurabilityOff
		for i, d := range durabilities {
			if value == strconv.Itoa(i) || strings.EqualFold(value, d.String()) {
				s.durability = d
			}
		}
		if isOn(value) && s.durability == sqlitefile.DurabilityOff {
			s.durability = sqlitefile.DurabilityNormal
		}
		return true, nil
	}
	return false, nil
}

// row returns the row of a pragma that is about a setting, or nil.
func (s *settings) row(name string) *cursor {
	if flag := s.flag(name); flag != nil {
		return one(name, *flag)
	}
	switch name {
	case "busy_timeout":
		return one("timeout", max(s.busy, 0).Milliseconds())
	case "synchronous":
		for i, d := range durabilities {
			if d == s.durability {
				return one(name, i)
			}
		}
	}
	return nil
}

// one returns a cursor with one row of one column.
func one(name string, value any) *cursor {
	r := table(name)
	r.add(value)
	return r
}

// table returns a cursor without rows.
func table(columns ...string) *cursor {
	r := &cursor{}
	for _, name := range columns {
		r.columns = append(r.columns, bind.Column{Name: name})
	}
	return r
}

// add adds a row of values that are no texts of the database.
func (r *cursor) add(values ...any) { r.kept = append(r.kept, recordsOf(values)) }

// journalMode runs PRAGMA journal_mode. A mode that the database cannot have leaves the one that it
// has.
func journalMode(c *connection, ctx context.Context, name, value string) (*cursor, error) {
	file := c.engine.file
	ctx = c.context(ctx, c.engine)
	if c.engine.info == nil {
		return one(name, "memory"), nil
	}
	mode, err := file.JournalMode(ctx)
	if err != nil {
		return nil, err
	}
	wanted := journalModes[strings.ToLower(value)]
	if wanted == sqlitefile.JournalDefault || wanted == mode || c.mayWrite() != nil {
		return one(name, mode.String()), nil
	}
	if c.txn.tx != nil {
		return one(name, mode.String()), nil
	}
	if c.txn.open && (wanted == sqlitefile.JournalWAL || mode == sqlitefile.JournalWAL) {
		direction := "out of"
		if wanted == sqlitefile.JournalWAL {
			direction = "into"
		}
		return nil, errorf(CodeError, "cannot change "+direction+" wal mode from within a transaction")
	}
	c.buffer()
	if err := file.SetJournalMode(ctx, wanted); err != nil {
		return nil, err
	}
	return one(name, wanted.String()), nil
}

// checkpoint runs PRAGMA wal_checkpoint.
func checkpoint(c *connection, ctx context.Context, _, value string) (*cursor, error) {
	mode := sqlitefile.CheckpointPassive
	for m := sqlitefile.CheckpointPassive; m <= sqlitefile.CheckpointTruncate; m++ {
		if strings.EqualFold(value, m.String()) {
			mode = m
		}
	}
	if c.txn.tx != nil {
		return nil, &Error{Code: CodeLocked, Extended: CodeLocked, Message: "database table is locked"}
	}
	busy := 0
	if c.mayWrite() == nil {
		c.buffer()
		switch err := c.engine.file.Checkpoint(c.context(ctx, c.engine), mode); {
		case errors.Is(err, sqlitefile.ErrBusy):
			busy = 1
		case err != nil:
			return nil, err
		}
	}
	r := table("busy", "log", "checkpointed")
	stats := c.engine.file.Stats()
	r.add(busy, stats.LogFrames, stats.LogFrames)
	return r, nil
}

// header runs a pragma about the header of the database.
func header(c *connection, ctx context.Context, name, value string) (*cursor, error) {
	if value != "" {
		n, _ := strconv.ParseInt(value, 10, 64)
		switch name {
		case "user_version":
			return &cursor{}, c.write(ctx, func(tx *sqlitefile.Tx) error { return tx.SetUserVersion(int32(n)) })
		case "application_id":
			return &cursor{}, c.write(ctx, func(tx *sqlitefile.Tx) error { return tx.SetApplicationID(uint32(n)) })
		case "schema_version":
			return nil, unsupportedOption("PRAGMA schema_version = N")
		}
		return &cursor{}, nil // of a database that is there, it stays
	}
	rx, own, err := c.reader(ctx)
	if err != nil {
		return nil, err
	}
	if own {
		defer rx.End()
	}
	info := rx.Info()
	if c.txn.tx != nil {
		info = c.txn.tx.Info()
	}
	var v any
	switch name {
	case "user_version":
		v = info.UserVersion
	case "application_id":
		v = int32(info.ApplicationID)
	case "schema_version":
		v = info.SchemaVersion
	case "page_size":
		v = info.PageSize
	case "page_count":
		v = info.PageCount
	case "freelist_count":
		v = info.FreePages
	case "encoding":
		v = info.Encoding
	case "auto_vacuum":
		v = info.AutoVacuum
	case "data_version":
		v = int64(rx.Version() % (1 << 31))
	}
	return one(name, v), nil
}

// check runs integrity_check and quick_check.
func check(c *connection, ctx context.Context, name, _ string) (*cursor, error) {
	report, err := c.engine.file.Check(ctx, nil)
	if err != nil {
		return nil, err
	}
	r := table(name)
	for _, p := range report.Problems {
		r.add(p.String())
	}
	if report.OK() {
		r.add("ok")
	}
	return r, nil
}

// defaults are the values of pragmas that change nothing here.
var defaults = map[string]any{
	"wal_autocheckpoint": 1000, "journal_size_limit": -1, "locking_mode": "normal", "cache_size": -2000, "cache_spill": 483, "temp_store": 0, "mmap_size": 0,
	"secure_delete": 0, "threads": 0, "trusted_schema": 1, "automatic_index": 1, "read_uncommitted": 0, "legacy_alter_table": 0,
	"max_page_count": int64(4294967294), "cell_size_check": 0, "checkpoint_fullfsync": 0, "fullfsync": 0,
}

// inert runs a pragma about memory or speed, which changes nothing. Some return the value that they
// were given.
func inert(_ *connection, _ context.Context, name, value string) (*cursor, error) {
	if value == "" {
		if v, ok := defaults[name]; ok {
			return one(name, v), nil
		}
		return table(name), nil
	}
	switch name {
	case "wal_autocheckpoint", "journal_size_limit", "mmap_size", "secure_delete", "threads", "max_page_count":
		if n, err := strconv.ParseInt(value, 10, 64); err == nil {
			return one(name, n), nil
		}
	case "locking_mode":
		return one(name, "normal"), nil
	}
	return &cursor{}, nil
}

// refuseOn runs a pragma that would change answers if it were on.
func refuseOn(_ *connection, _ context.Context, name, value string) (*cursor, error) {
	if isOn(value) {
		return nil, unsupportedOption("PRAGMA " + name + " = ON")
	}
	if value == "" && name != "case_sensitive_like" {
		return one(name, 0), nil
	}
	return &cursor{}, nil
}

var journalModes = map[string]sqlitefile.JournalMode{
	"delete": sqlitefile.JournalDelete, "truncate": sqlitefile.JournalTruncate, "persist": sqlitefile.JournalPersist, "wal": sqlitefile.JournalWAL,
}

// isOn reports whether a text means yes, as in a PRAGMA.
func isOn(value string) bool {
	switch strings.ToLower(value) {
	case "on", "yes", "true":
		return true
	}
	n, err := strconv.Atoi(value)
	return err == nil && n != 0
}
