// Package function has SQLite's own functions, each with the results of SQLite 3.53.
package function
