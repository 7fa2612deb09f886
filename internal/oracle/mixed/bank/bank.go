// Package bank is the workload of the mixed stress: the content of the database, the work of a
// transaction, and the conditions that every snapshot must meet in every reader.
//
//	B1  The balances of all accounts add up to Total, in the table and in its index.
//	B2  writer.seq of a writer is the number of its last transaction; no snapshot shows fewer than
//	    an earlier one.
//	B3  Table note holds the texts of the last Notes transactions of each writer, each once and
//	    byte for byte.
//	B4  Two reads of the same rows in a snapshot give the same values.
//
// Each writer is one goroutine or thread, so that it knows which number it finds; an acknowledged
// transaction that is not found is lost.
package bank

import (
	"fmt"
	"strings"
	"time"
)

const (
	Accounts = 64
	Balance  = 1000 // of each account at the start
	Total    = Accounts * Balance
	Notes    = 24 // that are kept of each writer
)

// Schema returns the statements that make the database for so many writers. They run in rollback
// mode.
func Schema(writers, pageSize, autoVacuum int) []string {
	return []string{
		fmt.Sprintf("PRAGMA page_size = %d", pageSize),
		fmt.Sprintf("PRAGMA auto_vacuum = %d", autoVacuum),
		"CREATE TABLE account(id INTEGER PRIMARY KEY, balance INTEGER NOT NULL)",
		"CREATE INDEX by_balance ON account(balance)",
		"CREATE TABLE writer(id INTEGER PRIMARY KEY, seq INTEGER NOT NULL)",
		"CREATE TABLE note(id INTEGER PRIMARY KEY, writer INTEGER NOT NULL, seq INTEGER NOT NULL, body TEXT NOT NULL, UNIQUE(writer, seq))",
		fmt.Sprintf("WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < %d) INSERT INTO account SELECT i, %d FROM n", Accounts, Balance),
		fmt.Sprintf("WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < %d) INSERT INTO writer SELECT i, 0 FROM n", writers-1),
	}
}

// Body returns the text of a transaction. Most fit a page, one in sixteen does not.
func Body(writer int, seq int64) string {
	unit := fmt.Sprintf("%d:%d;", writer, seq)
	n := 1 + int(seq*7+int64(writer)*3)%40
	if (seq+int64(writer))%16 == 0 {
		n += 500
	}
	return strings.Repeat(unit, n)
}

// A Transfer is one write transaction. The writer must find Seq - 1 as its number, move Amount,
// count, and note it; Undo asks to roll all of that back in the end.
type Transfer struct {
	Writer   int
	Seq      int64
	From, To int
	Amount   int64
	Undo     bool
	Linger   time.Duration // how long to wait before the end, so that the process may be killed there
}

// Drop returns the number of the note that a transaction removes.
func (t *Transfer) Drop() int64 { return t.Seq - Notes }

// A Note is a row of table note.
type Note struct {
	Seq  int64
	Body string
}

// A Look is the result of one read transaction.
type Look struct {
	Writer  int           // whose notes are read; the reader sets it
	Linger  time.Duration // how long to wait in the middle, while writers must not change the snapshot; the reader sets it
	Sums    [3]int64      // of the balances: from the table, from the index, and from the table again, last of all
	Numbers []int64       // by writer
	Again   []int64       // the same, read last of all
	Notes   []Note        // of Writer, in order
}

// Wrong returns the condition that a look violates (B1, B2, B4; wrongNotes has B3), after an
// earlier look in the same connection saw the numbers before; "" if there is none.
func (l *Look) Wrong(before []int64) string {
	for i, sum := range l.Sums {
		if sum != Total {
			return fmt.Sprintf("sum %d is %d, not %d", i, sum, Total)
		}
	}
	for w, n := range l.Numbers {
		if w < len(before) && n < before[w] {
			return fmt.Sprintf("writer %d was at %d and is at %d", w, before[w], n)
		}
		if w >= len(l.Again) || n != l.Again[w] {
			return fmt.Sprintf("writer %d is at %d and then, in the same snapshot, not", w, n)
		}
	}
	return l.wrongNotes()
}

func (l *Look) wrongNotes() string {
	if l.Writer >= len(l.Numbers) {
		return fmt.Sprintf("only %d writers", len(l.Numbers))
	}
	last := l.Numbers[l.Writer]
	first := max(1, last-Notes+1)
	if n := last - first + 1; int64(len(l.Notes)) != n {
		return fmt.Sprintf("writer %d is at %d and has %d notes, not %d", l.Writer, last, len(l.Notes), n)
	}
	for i, n := range l.Notes {
		if want := first + int64(i); n.Seq != want || n.Body != Body(l.Writer, want) {
			return fmt.Sprintf("writer %d, note %d: %d with %d bytes: %.40q", l.Writer, want, n.Seq, len(n.Body), n.Body)
		}
	}
	return ""
}
