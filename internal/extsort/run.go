package extsort

import (
	"slices"

	"github.com/foliofs/folio/internal/record"
)

// A entry stands for one record of a run.
type entry struct {
	word uint64
	pos  recordPos
}

// wholeRecords is the size of a group that is not worth its words.
const wholeRecords = 12

// sort sorts entries that are equal up to place p.
func (r *run) sort(e []entry, p record.WordPlace) {
	for len(e) > 1 && p.Col < len(r.order) {
		if len(e) <= wholeRecords {
			r.sortWhole(e, p.Col)
			return
		}
		if !r.load(e, p) {
			slices.SortFunc(e, compareWords)
			r.sortGroups(e, p)
			return
		}
		p = p.After(e[0].word, r.order[p.Col].Desc)
	}
}

// compareWords is cmp.Compare, which is not inlined here and costs a fifth of the sort.
func compareWords(a, b entry) int {
	switch {
	case a.word < b.word:
		return -1
	case a.word > b.word:
		return 1
	}
	return 0
}

// load fills in the words at place p and reports whether all are the same.
func (r *run) load(e []entry, p record.WordPlace) (same bool) {
	differ := uint64(0)
	for i := range e {
		e[i].word = r.order.Word(r.record(e[i].pos), p)
		differ |= e[i].word ^ e[0].word
	}
	return differ == 0
}

// sortGroups sorts each group of entries with the same word.
func (r *run) sortGroups(e []entry, p record.WordPlace) {
	for len(e) > 0 {
		n := 1
		for n < len(e) && e[n].word == e[0].word {
			n++
		}
		if n > 1 {
			r.sort(e[:n], p.After(e[0].word, r.order[p.Col].Desc))
		}
		e = e[n:]
	}
}

// sortWhole sorts a few entries by comparing records from column col on.
func (r *run) sortWhole(e []entry, col int) {
	slices.SortFunc(e, func(a, b entry) int {
		d, _ := r.order.CompareFrom(col, r.record(a.pos), r.record(b.pos))
		return d
	})
}
