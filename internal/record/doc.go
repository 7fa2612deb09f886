// Package record is how SQLite stores the values of a row, and how it orders them.
//
// A record is a header with the serial type of each value, and then the values:
//
//	| length of the header | type 1 | type 2 | ... | value 1 | value 2 | ... |
//
// [Decode] and [Encode] convert one value, [Append] makes a record, and [Read] walks over one.
// [Compare] orders two values, [Order] the records of an index, and [Key] is the key of a search in
// an index. For example, the INTEGER 2 is before the REAL 2.5, and both are before the TEXT '10'.
// The package knows no pages: a record that goes on in overflow pages is assembled first.
package record
