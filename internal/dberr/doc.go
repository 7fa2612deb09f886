// Package dberr defines the errors that several packages of the engine return. It also joins the
// errors of a call and of its clean-up, shortens an error that is part of another, and names the
// process that holds a lock. Package sqlitefile documents the errors that users see.
package dberr
