// Package wine tests a database that is written by this engine, built for Windows, and by C SQLite,
// built for Windows and for this system. The programs for Windows run under Wine.
package wine
