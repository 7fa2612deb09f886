package pgstore

import (
	"errors"
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/foliofs/folio/internal/store/pgstore/bucket"
)

// Is reports whether a name is that of a volume in a server: it begins with postgres:// or
// postgresql://.
func Is(name string) bool {
	return strings.HasPrefix(name, "postgres://") || strings.HasPrefix(name, "postgresql://")
}

// Shown returns the address of a volume as errors show it: without a password.
func Shown(url string) string {
	a, err := parseAddress(url)
	if err != nil {
		return shortened(url)
	}
	return a.shown
}

// shortened returns the part of an address that can be shown that cannot be read, as there may be a
// password in it.
func shortened(url string) string {
	if !Is(url) {
		return "..."
	}
	return url[:strings.Index(url, "://")] + "://..."
}

// An address is where a volume is.
type address struct {
	shown     string // without the password
	schema    schemaName
	bucket    string // the address of the bucket; or ""
	staleness time.Duration
	config    *pgxpool.Config
}

// errAddress shows the form of an address.
var errAddress = errors.New("not the address of a volume: write postgres://USER@HOST/DATABASE, perhaps with ?volume=NAME")

// errPassword is for an address in which a password may be what cannot be read.
var errPassword = fmt.Errorf("%w (in a password write %% as %%25, # as %%23, / as %%2F, ? as %%3F, @ as %%40)", errAddress)

// parseAddress reads the address of a volume: the URL of a database, in which the parameter volume
// names the volume, bucket is the bucket of its large contents, and max_staleness is that of
// Options.
func parseAddress(text string) (*address, error) {
	u, err := url.Parse(text)
	switch {
	case !Is(text):
		return nil, errAddress
	case err != nil || cutsPassword(u):
		return nil, errPassword
	case strings.Contains(text, "#"):
		return nil, errFragment
	}
	values, err := parameters(u.RawQuery)
	if err != nil {
		return nil, err
	}
	name := "main"
	if values.Has("volume") {
		name = values.Get("volume")
	}
	if !validVolume(name) {
		return nil, fmt.Errorf("%q cannot be the name of a volume: 1 to 40 lower-case letters, digits and _", name)
	}
	shown := *u
	password, ok := u.User.Password()
	if ok {
		shown.User = url.User(u.User.Username())
	}
	shownValues := maps.Clone(values)
	shownValues.Del("password")
	shownValues.Del("sslpassword")
	if b := values.Get("bucket"); strings.ContainsAny(b, "@?") {
		if _, err := bucket.Parse(b); err != nil { // there may be a secret in it
			shownValues.Set("bucket", "...")
		}
	}
	shown.RawQuery = strings.ReplaceAll(shownValues.Encode(), "%2F", "/")
	a := &address{shown: shown.String(), schema: schemaName("folio_" + name), bucket: values.Get("bucket")}
	if text := values.Get("max_staleness"); text != "" {
		if a.staleness, err = time.ParseDuration(text); err != nil || a.staleness < 0 {
			return nil, fmt.Errorf("max_staleness=%s is no time: write 500ms or 2s", text)
		}
	}
	values.Del("volume")
	values.Del("max_staleness")
	values.Del("bucket")
	u.RawQuery = values.Encode()
	if !Is(u.String()) { // nothing but parameters
		return nil, errAddress
	}
	if a.config, err = pgxpool.ParseConfig(u.String()); err != nil {
		return nil, unreadable(err, password, u.Query().Get("password"), u.Query().Get("sslpassword"))
	}
	switch mode := a.config.ConnConfig.DefaultQueryExecMode; mode {
	case pgx.QueryExecModeExec, pgx.QueryExecModeSimpleProtocol:
		return nil, fmt.Errorf("default_query_exec_mode=%s sends numbers as text: leave it out, or write cache_describe", values.Get("default_query_exec_mode"))
	}
	return a, nil
}

// unreadable says what the library does not like about an address. It says nothing of that if a
// secret may be in it.
func unreadable(err error, secrets ...string) error {
	e, ok := errors.AsType[*pgconn.ParseConfigError](err)
	if !ok {
		return errAddress
	}
	withAddress := pgconn.NewParseConfigError(e.ConnString, "", nil).Error()
	cause, ok := strings.CutPrefix(e.Error(), withAddress)
	if !ok || slices.ContainsFunc(secrets, func(secret string) bool { return secret != "" && strings.Contains(cause, secret) }) {
		return errAddress
	}
	return fmt.Errorf("not the address of a volume: %s: correct that, or leave it out", strings.Join(strings.Fields(cause), " "))
}

// cutsPassword reports whether a / or a ? in a password may have ended the name of the server: an @
// follows, and there is none before.
func cutsPassword(u *url.URL) bool {
	if u.User != nil || u.Host == "" {
		return false
	}
	return strings.Contains(u.EscapedPath(), "@") || u.Path == "" && strings.Contains(u.RawQuery, "@")
}

// Errors of addresses that net/url would read in part. What it leaves out may be the volume or
// sslmode.
var (
	errFragment  = errors.New("a # would hide what follows it: write %23")
	errSeparator = errors.New("a ; separates no parameters: write & between them, and %3B for a ; in one")
	errEscape    = errors.New("a % in a parameter must be written %25")
)

// parameters reads the query of an address as a whole, or refuses it. The errors do not have what
// they are about: it may be a password.
func parameters(query string) (url.Values, error) {
	values, err := url.ParseQuery(query)
	switch {
	case strings.Contains(query, ";"):
		return nil, errSeparator
	case err != nil:
		return nil, errEscape
	}
	for _, name := range slices.Sorted(maps.Keys(values)) {
		if len(values[name]) > 1 {
			return nil, fmt.Errorf("%s is given twice: write it once", name)
		}
	}
	return values, nil
}

func validVolume(name string) bool {
	if name == "" || len(name) > 40 {
		return false
	}
	for _, c := range []byte(name) {
		if (c < 'a' || c > 'z') && (c < '0' || c > '9') && c != '_' {
			return false
		}
	}
	return true
}
