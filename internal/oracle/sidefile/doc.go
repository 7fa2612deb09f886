// Package sidefile has only tests: the permissions and the owners of the files that the engine and
// C SQLite leave next to a database.
package sidefile
