// Package rewrite changes resolved queries into others with the same answers, as SQLite's code
// generator does before it plans: it flattens queries in FROM into the query around them, moves
// conditions into the ones that stay, and makes inner joins of outer ones whose rows of NULLs the
// conditions refuse. For example,
//
//	SELECT name FROM (SELECT * FROM user WHERE age > 30) WHERE city = 'Bern'
//
// becomes
//
//	SELECT name FROM user WHERE age > 30 AND city = 'Bern'
//
// which can use an index on city. The rules are those of SQLite, one by one: some of them are
// visible, because an expression can have another affinity than the column that stands for it.
package rewrite
