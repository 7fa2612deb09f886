// Package changes compares statements that change rows with C SQLite: random programs of INSERT,
// UPDATE, DELETE and upserts on random schemas run on two databases, one by each engine.
package changes
