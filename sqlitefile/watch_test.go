package sqlitefile

import (
	"errors"
	"testing"

	"github.com/foliofs/folio/internal/osfile"
	"github.com/foliofs/folio/internal/osfile/ordercheck"
)

// watch lets a write-order checker see what is done to databases on a system. All who write to one
// must do so through what it returns.
func watch(tb testing.TB, sys osfile.System, d Durability) osfile.System {
	return ordercheck.New(sys, d == DurabilityOff, func(err error) { tb.Error(err) })
}

// watchFaulty is watch for a system beneath one on which operations fail: half a page may be
// written there.
func watchFaulty(sys osfile.System, d Durability, report func(error)) osfile.System {
	return ordercheck.New(sys, d == DurabilityOff, func(err error) {
		if b, ok := errors.AsType[*ordercheck.Breach](err); !ok || b.Rule != 1 {
			report(err)
		}
	})
}
