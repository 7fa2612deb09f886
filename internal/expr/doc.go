// Package expr evaluates the expressions of a schema as SQLite 3.53 does, to the last bit: those of
// CHECK constraints, partial indexes, indexes on expressions and generated columns.
//
// It compiles expressions that mean the same in every build of SQLite, and refuses the rest by
// name: functions that an application defines, that depend on the time, or that a build may lack
// (JSON, mathematics, dates, printf); collations except BINARY, NOCASE and RTRIM; SELECT, row
// values and parameters; IN with an empty list, whose meaning has changed.
//
// A name in double quotes that is no column is a string, as for every build of SQLite once the
// expression stands in a schema. The name of a database before that of a table means nothing.
//
// # Differences between versions of SQLite
//
// A float that becomes a text (by ||, CAST, an affinity or a function of texts) has 17 significant
// digits, as since version 3.52, and 15 in versions before. A text that becomes a float counts 19
// digits. An index on such an expression is that of the newer versions. LIKE ignores the case of
// ASCII letters, which PRAGMA case_sensitive_like changes in a connection of SQLite.
//
// # Limits
//
// Expressions nest 1,000 deep, values have 1,000,000,000 bytes, patterns of LIKE and GLOB 50,000:
// SQLite's own defaults.
//
// Everything here is pure: no input or output, no state between calls. Texts are UTF-8.
package expr
