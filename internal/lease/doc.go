// Package lease lets the readers of a database share one lock, and gives the lock back a few
// milliseconds after the last reader, or as soon as it stands in the way of another connection.
package lease
