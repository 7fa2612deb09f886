// Package pgstore implements a store.Store in a database of PostgreSQL. The public package pgstore
// opens volumes on it, and describes their behavior.
//
// A Store is a store.Walker, so that package folio tells it which paths it is about to look up. It
// is no store.Maintainer, store.Observer or store.Snapshotter, and Version never knows an answer.
package pgstore
