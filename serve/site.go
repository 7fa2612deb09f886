package serve

import (
	"cmp"
	"crypto/tls"
	"log/slog"
	"net/http"
	"sync/atomic"

	"github.com/foliofs/folio/serve/internal/page"
)

// Paths behind the base that belong to no file.
const (
	assetsPath   = "/-/assets/"
	snapshotPath = "/-/at/"
	metricsPath  = "/-/metrics"
	loginPath    = "/-/login"
	healthPath   = "/-/healthz"
	sharePath    = "/-/share/"
	archivePath  = "/-/archive/"
	undoPath     = "/-/undo/"
	searchPath   = "/-/search"
	restorePath  = "/-/restore"
	removePath   = "/-/remove"
	movePath     = "/-/move"
	tusPath      = "/-/tus/"
	linksPath    = "/-/links"
	trashPath    = "/-/trash"
	iconPath     = "/favicon.ico"
)

// A site is the state that all requests to a server share.
type site struct {
	options Options
	base    string // "" or "/files"
	trees   []*tree
	pages   *page.Pages
	assets  http.Handler
	metrics *metrics
	hosts   map[string]bool
	logins  *logins      // nil lets everybody in
	notices *slog.Logger // for the operator

	who         atomic.Pointer[authority]
	certificate atomic.Pointer[tls.Certificate] // nil without TLS
	warned      atomic.Pointer[string]          // what /healthz says besides

	calls    *gate // requests
	archives *gate // that are sent
	searches *gate
	buffers  *buffers
	contents *contentCache
}

// warn sets what /healthz says besides. It is for everybody, so it names nothing.
func (s *site) warn(text string) { s.warned.Store(&text) }

func (s *site) warning() string {
	if text := s.warned.Load(); text != nil {
		return *text
	}
	return ""
}

// noticesOf returns the log for the operator.
func noticesOf(o *Options) *slog.Logger {
	return cmp.Or(o.Notices, o.Logger, slog.New(slog.DiscardHandler))
}

// tree returns the tree with a name, or nil.
func (s *site) tree(name string) *tree {
	for _, t := range s.trees {
		if t.Name == name {
			return t
		}
	}
	return nil
}
