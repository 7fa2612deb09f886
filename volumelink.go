package folio

import "github.com/foliofs/folio/internal/volumelink"

// This is for package mount. It is not part of the API.
func init() {
	volumelink.Store = func(volume any) any { return volume.(*Volume).store }
}
