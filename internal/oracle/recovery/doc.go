// Package recovery lets one engine crash and the other recover. Ours and C SQLite must find the
// same database in whatever the other one left behind, and with it every transaction that was
// acknowledged.
//
// There are five sources of crashes:
//
//   - images of the crash tests of sqlitefile: our files after a loss of power (TestImages);
//   - system calls of C SQLite, done again to a file system that crashes: the files of C after a
//     loss of power (TestPowerLoss);
//   - a process of ours or of C SQLite, killed at each of its system calls (TestKill);
//   - a process of C SQLite that writes to databases in several directories at once, killed
//     likewise (TestAttachKill);
//   - a process of ours, killed at random moments, while other processes read (TestRandomKill).
//
// All of it is in tests. The test's program is also each of the processes.
package recovery
