// Package serve serves volumes by HTTP to browsers, to command lines, and to programs that speak
// WebDAV or tus. The command folio serve is a thin shell around it.
//
// # URLs
//
// The URL of a file is its path in the volume. If several volumes are served, the name of the
// volume comes first. Every URL that does not belong to a file begins with /-/, so a file or
// directory named "-" in the root cannot be reached. GET of a file returns its content, GET of a
// directory a page, or JSON if the client asks for that by Accept.
//
// # Trust
//
// Clients are not trusted. They supply requests, and with the right to write also names and
// contents. Nothing that they supply runs as a script, leads out of the directory that is served,
// or takes more memory than the limits in limits.go say. The volume is not trusted either: its
// names may hold any bytes, and its symbolic links are followed inside the directory that is served
// only.
//
// # Names of its own
//
// A directory named .folio-serve in the root of each tree that is written to keeps uploads that are
// not complete, removed files, and shares. No request reaches a path with that element.
package serve
