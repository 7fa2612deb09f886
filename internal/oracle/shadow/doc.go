// Package shadow tests package sqlite/shadow with C SQLite as the other driver, beside processes of
// C SQLite that write to the same file and are killed. It consists of tests.
package shadow
