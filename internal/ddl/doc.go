// Package ddl derives the facts that the storage needs from the statements that a SQLite database
// keeps in sqlite_schema.sql: which column is the rowid, which constraints have an index and its
// name, in which order a record holds its fields, affinities, collations, defaults. Package syntax
// parses the statements.
//
// Expressions stay text. Nothing here evaluates them, except that a DEFAULT which is a constant
// becomes a value.
//
// # Terms
//
// Names are compared without regard to ASCII case, and only ASCII case (EqualFold, Fold). A term is
// one entry of an index or of a key. An automatic index is one that a UNIQUE or PRIMARY KEY
// constraint makes. The alias is the column that is the rowid by another name.
//
// # Quirks
//
// Some rules would surprise a reader of the grammar. Code that relies on them cites them:
//
//	Q1   The bare word IF is no name of an object, even where the parser can read it: SQLite would
//	     store a statement that it cannot read again.
//	Q2   A name may be a string, and a string may be a name: 'x', "x", `x` and [x] are the same
//	     column.
//	Q3   The words GENERATED ALWAYS behind a type are read as a part of it and cut off again.
//	Q4   A type is its text from the first word to the last, with the text between them, quotes
//	     taken off. Empty quotes are a type: its affinity is numeric, that of no type at all is none.
//	Q5   The alias is the only term of the PRIMARY KEY and has the type INTEGER, no other spelling.
//	     A constraint of the table may say DESC, as that is ignored; a column that says PRIMARY KEY
//	     DESC is no alias.
//	Q6   In a WITHOUT ROWID table such a key is made after all other constraints, with the collation
//	     of its column.
//	Q7   A constraint with the columns and collations of an earlier one has no index of its own: the
//	     earlier index, with its name and its sort order, serves both. Of their ON CONFLICT clauses,
//	     one at most may be given, or both the same.
//	Q8   The key of a WITHOUT ROWID table drops terms that repeat the column and the collation of an
//	     earlier one. A column with two collations stays twice, and is stored twice.
//	Q9   Other indexes of such a table append the terms of its key that they lack: CREATE INDEX with
//	     their sort order, automatic indexes always ascending.
//	Q10  In a term, a string is the name of a column, and a name in double quotes that no column has
//	     is a string.
//	Q11  The name of a CONSTRAINT clause holds for all that follows, up to the next column or the
//	     next comma between constraints of the table. It may stand alone. The comma behind the last
//	     column does not end its reach.
//	Q12  DEFERRABLE belongs to the latest foreign key of the table, even if another column has it.
//	Q13  An identifier after DEFAULT is a string, except TRUE and FALSE. A number is text at first
//	     if the column has an affinity, so that a TEXT column with DEFAULT 1.50 gets "1.50".
//
// # Limits
//
// 32,767 columns in a table and terms in an index or key, 1,048,576 terms in all constraints of a
// table, 1,000,000,000 bytes of text, and the limits of package syntax. Time and memory are linear
// in the text. Text after the first NUL byte is ignored, as it is by SQLite.
//
// Everything here is pure: no input or output, no state between calls. Results are independent of
// each other and safe for concurrent reading; Index.Resolve and Index.StoredColumns write to the
// Index.
package ddl
