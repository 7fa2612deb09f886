package pager

import (
	"time"
)

// An EventKind is the subject of an Event.
type EventKind uint8

const (
	EventCommit EventKind = iota + 1
	EventCheckpoint
	EventRecovery
	EventWait
	EventLinks
)

// An Event tells of something that is over. Package sqlitefile explains the fields.
type Event struct {
	Kind         EventKind
	Start        time.Time
	Took         time.Duration
	Transactions int
	Pages        int
	Err          error
}
