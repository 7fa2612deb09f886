package serve

import (
	"context"
	"io"
	"log"
	"log/slog"
	"strings"
	"time"
)

// end notes what became of the request.
func (c *call) end() {
	took := time.Since(c.start)
	c.s.metrics.end(c.r.Method, c.w.status, took)
	c.log(took)
}

// log writes what became of a request. Handlers of package slog quote the texts of clients, so that
// none begins a line of its own. Queries and headers are left out: they may hold secrets, and so
// may the paths of shares.
func (c *call) log(took time.Duration) {
	l := c.s.options.Logger
	if l == nil {
		return
	}
	level := slog.LevelInfo
	attrs := []slog.Attr{
		slog.String("client", c.r.RemoteAddr), slog.String("user", c.user), slog.String("method", c.r.Method),
		slog.String("path", loggedPath(c.r.URL.EscapedPath())), slog.Int("status", c.w.status), slog.Int64("bytes", c.w.bytes), slog.Duration("took", took),
	}
	if c.err != nil {
		attrs = append(attrs, slog.String("error", c.err.Error()))
		if c.w.status >= 500 {
			level = slog.LevelError
		}
	}
	l.LogAttrs(context.Background(), level, "request", attrs...)
}

// loggedPath leaves the tokens of shares out, and cuts off what is too long.
func loggedPath(p string) string {
	if i := strings.Index(p, sharePath); i >= 0 {
		p = p[:i+len(sharePath)] + "..."
	}
	return p[:min(len(p), 1024)]
}

// errorLog takes what package http has to say about connections.
func (s *site) errorLog() *log.Logger {
	if s.options.Logger == nil {
		return log.New(io.Discard, "", 0)
	}
	return slog.NewLogLogger(s.options.Logger.Handler(), slog.LevelWarn)
}
