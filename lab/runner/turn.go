package runner

import (
	"github.com/foliofs/folio/lab/result"
)

// A turn is one sample of a participant in a task.
type turn struct {
	task        *task
	participant *participant
	round       int // from 1
}

// turns lists all that there are to take. In each round the first to take its turn is another.
func (r *run) turns() []turn {
	var turns []turn
	for round := 1; round <= r.o.Rounds; round++ {
		for _, t := range r.tasks {
			taking := r.taking(t)
			for i := range taking {
				turns = append(turns, turn{t, taking[(i+round-1)%len(taking)], round})
			}
		}
	}
	return turns
}

// taking lists the participants that take part in a task.
func (r *run) taking(t *task) []*participant {
	var taking []*participant
	for _, e := range r.participants {
		if e.unsupported(t) == "" {
			taking = append(taking, e)
		}
	}
	return taking
}

func (t turn) cell() result.Cell {
	return result.Cell{Case: t.task.record.ID, Contender: t.participant.record.ID}
}

// String describes the turn for a user who waits for it.
func (t turn) String() string { return t.task.record.ID + " " + t.participant.record.ID }

// taken reports whether an earlier run has taken the turn.
func (t turn) taken(old *result.Set) bool {
	return old.Has(t.task.record.ID, t.participant.record.ID, t.round)
}
