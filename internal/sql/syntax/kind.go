package syntax

// A kind is the kind of a token. The order of the constants matters: isID and isName are ranges.
type kind uint8

const (
	tokEnd     kind = iota // the end of the text
	tokFailed              // every token after an error; no rule wants it
	tokIllegal             // bytes that are no token
	tokSemicolon
	tokLeft
	tokRightParen
	tokComma
	tokDot
	tokPlus
	tokMinus
	tokStar
	tokSlash
	tokPercent
	tokTilde
	tokEqual
	tokNotEqual
	tokLess
	tokLessEqual
	tokGreater
	tokGreaterEqual
	tokBitAnd
	tokBitOr
	tokShiftLeft
	tokShiftRight
	tokConcat
	tokArrow // -> and ->>
	tokInteger
	tokFloat
	tokSeparated // a number with underscores
	tokBlob
	tokVariable
	tokString

	tokID // an identifier, also a quoted one

	// Keywords that fall back to identifiers wherever the grammar has no use for them.
	kwAbort
	kwAction
	kwAfter
	kwAnalyze
	kwAsc
	kwAttach
	kwBefore
	kwBegin
	kwBy
	kwCascade
	kwCast
	kwColumn
	kwConflict
	kwDatabase
	kwDeferred
	kwDesc
	kwDetach
	kwDo
	kwEach
	kwEnd
	kwExclusive
	kwExplain
	kwFail
	kwFor
	kwIgnore
	kwImmediate
	kwInitially
	kwInstead
	kwLike
	kwMatch
	kwNo
	kwPlan
	kwQuery
	kwKey
	kwOf
	kwOffset
	kwPragma
	kwRaise
	kwRecursive
	kwRelease
	kwReplace
	kwRestrict
	kwRow
	kwRows
	kwRollback
	kwSavepoint
	kwTemp
	kwTrigger
	kwVacuum
	kwView
	kwVirtual
	kwWith
	kwWithout
	kwNulls
	kwFirst
	kwLast
	kwCurrent
	kwFollowing
	kwPartition
	kwPreceding
	kwRange
	kwUnbounded
	kwExclude
	kwGroups
	kwOthers
	kwTies
	kwGenerated
	kwAlways
	kwMaterialized
	kwReindex
	kwRename
	kwCurrentTime
	kwIf

	// Keywords that are names, but neither types, nor collations, nor aliases without AS.
	kwIndexed
	kwSide // CROSS, FULL, INNER, LEFT, NATURAL, OUTER, RIGHT

	// Keywords that are never names. FILTER, OVER and WINDOW are keywords only between certain
	// other tokens (see contextual).
	kwAdd
	kwAll
	kwAlter
	kwAnd
	kwAs
	kwAutoincrement
	kwBetween
	kwCase
	kwCheck
	kwCollate
	kwCommit
	kwConstraint
	kwCreate
	kwDefault
	kwDeferrable
	kwDelete
	kwDistinct
	kwDrop
	kwElse
	kwEscape
	kwExcept
	kwExists
	kwFilter
	kwForeign
	kwFrom
	kwGroup
	kwHaving
	kwIn
	kwIndex
	kwInsert
	kwIntersect
	kwInto
	kwIs
	kwIsnull
	kwJoin
	kwLimit
	kwNot
	kwNothing
	kwNotnull
	kwNull
	kwOn
	kwOr
	kwOrder
	kwOver
	kwPrimary
	kwReferences
	kwReturning
	kwSelect
	kwSet
	kwTable
	kwThen
	kwTo
	kwTransaction
	kwUnion
	kwUnique
	kwUpdate
	kwUsing
	kwValues
	kwWhen
	kwWhere
	kwWindow
)

// isID reports whether a token of the kind may be an identifier, perhaps by falling back to one.
func (k kind) isID() bool { return k >= tokID && k < kwIndexed }

// isWord reports whether a token of the kind may be a type, a collation or an alias without AS:
// the grammar's ids.
func (k kind) isWord() bool { return k >= tokString && k < kwIndexed }

// isObject reports whether a token of the kind may be a column or a function: the grammar's idj.
func (k kind) isObject() bool { return k >= tokID && k <= kwSide }

// isName reports whether a token of the kind may be the name of a table or a column: the grammar's
// nm, which includes strings.
func (k kind) isName() bool { return k >= tokString && k <= kwSide }

// startsSelect reports whether a token of the kind is the first of a SELECT.
func (k kind) startsSelect() bool { return k == kwSelect || k == kwValues || k == kwWith }
