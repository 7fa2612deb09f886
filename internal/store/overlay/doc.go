// Package overlay keeps a volume over a base that is only read: the changes of files are kept in a
// store, and everything else is read from an fs.FS below. It is a store.Store, so that
// folio.OpenStore makes a file system of it, which package mount can mount.
//
// The store that keeps the changes is called the upper one. In it lie the files that were made, and
// of the base only the changed ones, with the directories that lead to them: they are copied up. It
// uses the format of overlayfs's upper layers:
//
//   - A whiteout hides a name of the base. It is a character device 0/0 with mode 0.
//   - A directory that was copied up has the extended attribute trusted.overlay.redirect, the path
//     of the directory in the base whose entries are seen in it as well. Any other directory shows
//     what it has itself. It has trusted.overlay.opaque, with the value y, if the base has a
//     directory of that name.
//   - Attributes that begin with trusted.overlay. belong to the overlay. Attributes of a program
//     that begin so are kept with trusted.overlay.overlay. at the start.
//
// # Copies
//
// A change of attributes, a hard link or a rename copies the inode, and not the content. A write
// copies the chunks of 64 KiB that it writes a part of: to change one byte of 50 MiB copies 64 KiB.
// A chunk that has no row in the upper store is read from the base, up to the limit that a Record
// tells. So the upper store alone does not show the content of such a file. With
// Options.CopyWholeFile, all of a content is copied with its inode.
//
// # Numbers
//
// A file of the base has a number above store.MaxIno, by its path in the base, as long as the Store
// is open. It keeps the number when it is copied up; when the Store is opened again, it has the
// number of the upper store. Two hard links in the base are two files.
//
// # A base that changes
//
// The base should not change while the Store is open. If it does, files that were not copied up may
// be seen as they were or as they are. A content is never mixed: a file of which some chunks are
// copied fails with ErrBaseChanged once the file of the base is another one.
//
// The table says which file is seen at a name of a directory that was copied up, and what its
// removal leaves.
//
//	upper store   base           seen           after removing it
//	nothing       nothing        nothing
//	nothing       a file         that           a whiteout
//	a file        nothing        the file       nothing
//	a file        anything       the file       a whiteout
//	a whiteout    anything       nothing
//	a directory   a directory    both, merged   a whiteout
//	 with redirect
//	a directory   a directory    the first one  a whiteout
//	a directory   gone, or       the first one  nothing, or a whiteout
//	 with redirect another type
//	anything      unreadable     an error       an error
package overlay
