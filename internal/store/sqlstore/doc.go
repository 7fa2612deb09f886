// Package sqlstore implements a store.Store over database/sql. The public package sqlstore opens
// volumes on it, and describes their behavior.
package sqlstore
