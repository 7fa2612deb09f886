package folio

import "github.com/foliofs/folio/internal/volumelink"

// This is for packages mount and serve. It is not part of the API.
func init() {
	volumelink.Store = func(volume any) any { return volume.(*Volume).store }
}
