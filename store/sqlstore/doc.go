// Package sqlstore keeps a volume in a SQLite database through database/sql.
package sqlstore
