package ddl

// longestKeyword is the length of CURRENT_TIMESTAMP.
const longestKeyword = 17

// keywords maps the words that are not plain identifiers, in lower case. SQLite has some more
// keywords, all of which are names where this grammar meets them.
var keywords = map[string]tokenKind{
	"abort": kwAbort, "action": kwAction, "add": kwReserved, "after": kwAfter, "all": kwAll, "alter": kwReserved,
	"always": kwAlways, "and": kwAnd, "as": kwAs, "asc": kwAsc, "autoincrement": kwAutoincrement,
	"before": kwBefore, "between": kwBetween, "by": kwBy,
	"cascade": kwCascade, "case": kwCase, "cast": kwCast, "check": kwCheck, "collate": kwCollate, "commit": kwReserved,
	"conflict": kwConflict, "constraint": kwConstraint, "create": kwCreate, "cross": kwJoin,
	"current_date": kwCurrentTime, "current_time": kwCurrentTime, "current_timestamp": kwCurrentTime,
	"default": kwDefault, "deferrable": kwDeferrable, "deferred": kwDeferred, "delete": kwDelete, "desc": kwDesc,
	"distinct": kwDistinct, "drop": kwReserved,
	"else": kwElse, "end": kwEnd, "escape": kwEscape, "except": kwReserved, "exists": kwExists,
	"fail": kwFail, "filter": kwFilter, "first": kwFirst, "foreign": kwForeign, "from": kwFrom, "full": kwJoin,
	"generated": kwGenerated, "glob": kwLike, "group": kwReserved,
	"having": kwReserved,
	"if":     kwIf, "ignore": kwIgnore, "immediate": kwImmediate, "in": kwIn, "index": kwIndex, "indexed": kwIndexed,
	"initially": kwInitially, "inner": kwJoin, "insert": kwInsert, "instead": kwInstead, "intersect": kwReserved,
	"into": kwReserved, "is": kwIs, "isnull": kwIsnull,
	"join": kwReserved,
	"key":  kwKey,
	"last": kwLast, "left": kwJoin, "like": kwLike, "limit": kwReserved,
	"match":   kwMatch,
	"natural": kwJoin, "no": kwNo, "not": kwNot, "nothing": kwReserved, "notnull": kwNotnull, "null": kwNull,
	"nulls": kwNulls,
	"of":    kwOf, "on": kwOn, "or": kwOr, "order": kwOrder, "outer": kwJoin, "over": kwOver,
	"primary": kwPrimary,
	"raise":   kwRaise, "references": kwReferences, "regexp": kwLike, "replace": kwReplace, "restrict": kwRestrict,
	"returning": kwReserved, "right": kwJoin, "rollback": kwRollback,
	"select": kwSelect, "set": kwSet,
	"table": kwTable, "temp": kwTemp, "temporary": kwTemp, "then": kwThen, "to": kwReserved, "transaction": kwReserved,
	"trigger": kwTrigger,
	"union":   kwReserved, "unique": kwUnique, "update": kwUpdate, "using": kwUsing,
	"values": kwValues, "view": kwView, "virtual": kwVirtual,
	"when": kwWhen, "where": kwWhere, "window": kwWindow, "with": kwWith, "without": kwWithout,
}

// keyword returns the kind of a word.
func keyword(word string) tokenKind {
	if len(word) > longestKeyword {
		return tokID
	}
	var lower [longestKeyword]byte
	for i := range len(word) {
		lower[i] = fold(word[i])
	}
	if kind, ok := keywords[string(lower[:len(word)])]; ok {
		return kind
	}
	return tokID
}
