// Package syntax reads and prints SQL as SQLite 3.53 does: one tokenizer, one parser and one tree
// for all statements.
//
// [Parse] reads the first statement of a text, as sqlite3_prepare does, and says where the next one
// begins. It accepts the texts that the parser of SQLite accepts, and refuses the others with the
// message and the offset of SQLite. The package knows no schema: it does not look up names, and
// errors about unknown tables belong to its callers.
//
// # How the parser follows SQLite
//
// SQLite generates its parser from an LALR(1) grammar. This parser is written by hand, by recursive
// descent and precedence climbing, and keeps four properties of the generated one:
//
//	P1  A keyword is consumed when some rule can begin with it. Where a keyword cannot
//	    continue, the error names the token after it. For example, "FROM t NOT x" fails at x.
//	P2  A keyword that falls back to a name (see kind) is a keyword wherever the grammar has a use
//	    for it. For example, "SELECT cast" is incomplete, and "SELECT a.cast" is a column.
//	P3  An error that a rule raises, for example about the depth of an expression, becomes final when
//	    the parser consumes the next token. A syntax error at that token replaces it.
//	P4  The parser has a stack of at most maxStack entries. The parser counts the entries that
//	    SQLite's would have, which bounds its own recursion, too.
package syntax
