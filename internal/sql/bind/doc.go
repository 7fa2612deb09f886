// Package bind resolves the names of a query: columns of tables, views, subqueries and common table
// expressions, aliases of the result, functions. It says of each expression which affinity and
// which collation it has, and finds the aggregates of each SELECT.
//
// The result is a tree of its own, a [Query], in which no name is left to look up. For example,
//
//	SELECT city, count(*) FROM user GROUP BY 1
//
// becomes a [Core] with one [Source], two results (the column of the source, and the first of the
// aggregates), and the column as the only term of GROUP BY.
//
// Errors have the texts of SQLite. A part of SQL that is not known yet is an [UnsupportedError].
package bind
