package serve

import (
	"context"
	"errors"
	"io"
	"log"
	"log/slog"
	"strings"
	"time"
)

// An outcome is the result of a request.
type outcome struct {
	client, user, method string
	path                 string // as loggedPath returns it
	status               int
	bytes                int64 // of the body of the answer
	took                 time.Duration
	err                  error // why it failed
}

// end notes the result of the request.
func (c *call) end() {
	o := outcome{client: c.client, user: c.user, method: c.r.Method, status: c.w.status, bytes: c.w.bytes, took: time.Since(c.start), err: c.err}
	if c.s.options.Logger != nil {
		o.path = loggedPath(c.r.URL.EscapedPath())
	}
	c.s.note(&o)
}

// note counts a request, and writes its result to the log. Handlers of package slog quote the texts
// of clients, so that none begins a line of its own. Queries and headers are left out: they may
// hold secrets, and so may the paths of shares.
func (s *site) note(o *outcome) {
	s.metrics.end(o.method, o.status, o.took)
	l := s.options.Logger
	if l == nil {
		return
	}
	level := slog.LevelInfo
	attrs := []slog.Attr{
		slog.String("client", o.client), slog.String("user", o.user), slog.String("method", o.method),
		slog.String("path", o.path), slog.Int("status", o.status), slog.Int64("bytes", o.bytes), slog.Duration("took", o.took),
	}
	if o.err != nil {
		attrs = append(attrs, slog.String("error", o.err.Error()))
		if o.status >= 500 && !errors.Is(o.err, errAway) { // the log says once that the server is away
			level = slog.LevelError
		}
	}
	l.LogAttrs(context.Background(), level, "request", attrs...)
}

// loggedPath leaves the tokens of shares out, and cuts off long paths.
func loggedPath(p string) string {
	if i := strings.Index(p, sharePath); i >= 0 {
		p = p[:i+len(sharePath)] + "..."
	}
	return p[:min(len(p), 1024)]
}

// errorLog takes package http's messages about connections.
func (s *site) errorLog() *log.Logger {
	if s.options.Logger == nil {
		return log.New(io.Discard, "", 0)
	}
	return slog.NewLogLogger(s.options.Logger.Handler(), slog.LevelWarn)
}
