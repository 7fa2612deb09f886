package pager

import (
	"time"
)

// A Durability says which failures a transaction survives once Update has returned.
type Durability int

// The durabilities, those first that sync each commit.
const (
	DurabilityFull Durability = iota
	DurabilityExtra
	DurabilityNormal
	DurabilityOff
)

// A JournalMode says how commits are made atomic.
type JournalMode int

const (
	JournalDefault JournalMode = iota
	JournalDelete
	JournalTruncate
	JournalPersist
	JournalWAL
)

// A CheckpointMode says how far a checkpoint goes.
type CheckpointMode int

const (
	CheckpointPassive CheckpointMode = iota
	CheckpointFull
	CheckpointRestart
	CheckpointTruncate
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
