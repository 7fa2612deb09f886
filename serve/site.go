package serve

import (
	"net/http"

	"github.com/foliofs/folio/serve/page"
)

// Paths behind the base that belong to no file.
const (
	assetsPath   = "/-/assets/"
	snapshotPath = "/-/at/"
	metricsPath  = "/-/metrics"
	loginPath    = "/-/login"
	healthPath   = "/healthz"
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

// A site is what all requests to a server share.
type site struct {
	options Options
	base    string // "" or "/files"
	trees   []*tree
	pages   *page.Pages
	assets  http.Handler
	metrics *metrics
	hosts   map[string]bool
	logins  *logins // nil lets everybody in

	calls    *gate // requests
	archives *gate // that are sent
	searches *gate
	buffers  *buffers
	contents *contentCache
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
