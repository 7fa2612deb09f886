package syntax

import (
	"math/rand/v2"
	"strings"
)

// A mutator makes texts of others by exchanging, doubling, dropping and inserting pieces of about a
// token.
type mutator struct {
	rand  *rand.Rand
	texts []string
}

// pieces splits a text at spaces and around punctuation.
func pieces(sql string) []string {
	var all []string
	start := 0
	cut := func(i int) {
		if i > start {
			all = append(all, sql[start:i])
		}
		start = i
	}
	for i := range len(sql) {
		if strings.IndexByte(" \n\t(),.;=+-*/<>|'\"", sql[i]) >= 0 {
			cut(i)
			cut(i + 1)
		}
	}
	cut(len(sql))
	return all
}

// text returns a new text.
func (m *mutator) text() string {
	all := pieces(m.texts[m.rand.IntN(len(m.texts))])
	for range 1 + m.rand.IntN(3) {
		if len(all) == 0 {
			break
		}
		i := m.rand.IntN(len(all))
		switch m.rand.IntN(6) {
		case 0:
			all = append(all[:i:i], all[i+1:]...)
		case 1:
			j := m.rand.IntN(len(all))
			all[i], all[j] = all[j], all[i]
		case 2:
			all[i] += " " + all[i]
		case 3:
			other := pieces(m.texts[m.rand.IntN(len(m.texts))])
			if len(other) > 0 {
				all[i] = other[m.rand.IntN(len(other))]
			}
		case 4:
			all[i] += " " + words[m.rand.IntN(len(words))]
		case 5:
			all = all[:i]
		}
	}
	return strings.ReplaceAll(strings.Join(all, ""), "\x00", "")
}

// words has words and marks that mean much to the grammar.
var words = strings.Fields(`ABORT ACTION AFTER ALL ALWAYS ANALYZE AND AS ASC ATTACH AUTOINCREMENT
	BEFORE BEGIN BETWEEN BY CASCADE CASE CAST CHECK COLLATE COLUMN COMMIT CONFLICT CONSTRAINT CREATE
	CROSS CURRENT CURRENT_TIME DATABASE DEFAULT DEFERRABLE DEFERRED DELETE DESC DETACH DISTINCT DO DROP
	EACH ELSE END ESCAPE EXCEPT EXCLUDE EXISTS EXPLAIN FAIL FILTER FIRST FOLLOWING FOR FOREIGN FROM FULL
	GENERATED GLOB GROUP GROUPS HAVING IF IGNORE IMMEDIATE IN INDEX INDEXED INITIALLY INNER INSERT
	INSTEAD INTERSECT INTO IS ISNULL JOIN KEY LAST LEFT LIKE LIMIT MATCH MATERIALIZED NATURAL NO NOT
	NOTHING NOTNULL NULL NULLS OF OFFSET ON OR ORDER OTHERS OUTER OVER PARTITION PLAN PRAGMA PRECEDING
	PRIMARY QUERY RAISE RANGE RECURSIVE REFERENCES REGEXP REINDEX RELEASE RENAME REPLACE RESTRICT
	RETURNING RIGHT ROLLBACK ROW ROWS SAVEPOINT SELECT SET STRICT TABLE TEMP THEN TIES TO TRANSACTION
	TRIGGER UNBOUNDED UNION UNIQUE UPDATE USING VACUUM VALUES VIEW VIRTUAL WHEN WHERE WINDOW WITH WITHOUT
	( ) , . ; = == <> < <= >> + - * / % || -> ->> & | ~ ? ?1 :a @b $c::d(e) #1 1 1.5 .5 1e3 0x1F 1_000
	1__0 'x' "x" [x] x'00' x'0' a b t1 "" '' ! ^ 12a -- /* */ 9223372036854775808`)
