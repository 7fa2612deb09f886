// Package etag names contents of files for HTTP.
package etag

import (
	"fmt"
	"io/fs"

	"github.com/foliofs/folio"
)

// Of returns a strong ETag (RFC 9110, section 8.8.3) for the content of a file in a volume. Another
// content has the same tag only if the time of modification was set back.
func Of(info fs.FileInfo) string {
	n := info.Sys().(*folio.Node)
	return fmt.Sprintf(`"%x-%x-%x"`, n.Ino, n.Mtime, n.Size)
}
