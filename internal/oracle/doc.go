// Package oracle judges Folio's storage engine by SQLite itself, written in C.
//
// The packages below it make databases with C SQLite and read them with both (gen), replay SQLite's
// own corrupt images through both (fuzzdata), and measure both side by side (the benchmarks of this
// package; all else is in the laboratory).
//
// It is a module of its own, so that no SQL driver ever enters the product's go.mod. Whatever needs
// C is skipped by name if there is no C compiler; the module builds and vets without one.
package oracle
