// Package walreset stops a checkpointer between two steps, which real SQLite calls fault point 660 and where it once lost commits: it has
// read the header of the wal-index, and another connection begins the log anew before it goes on. The tests do so both ways round, with
// C SQLite and with us as the one who is stopped, and once more with what guards us taken out, to see that the tests would notice.
package walreset
