// Package walreset stops a checkpointer between two steps. Real SQLite calls the place fault point
// 660, and once lost commits there: the checkpointer has read the header of the wal-index, and
// another connection lets the log begin again before it goes on. The tests stop C SQLite and our
// engine in turn. They do so once more without our protection, to see that the tests would notice.
package walreset
