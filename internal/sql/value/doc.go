// Package value converts, compares and computes with values as SQLite 3.53 does, to the last bit. A
// value is a [record.Value]; its texts are UTF-8 here.
//
// A float that becomes a text has 17 significant digits, as since version 3.52 of SQLite, and 15 in
// versions before. A text that becomes a float counts 19 digits.
//
// Everything here is pure: no input or output, no state between calls.
package value
