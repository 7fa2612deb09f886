// Package volumelink lets packages mount and serve reach the store of a volume, which is no part of
// the public API of package folio. Package folio sets the variable when it is initialized.
package volumelink

// Store returns the store, a store.Store, of a volume, a *folio.Volume. Any other type makes the
// call panic.
var Store func(volume any) any
