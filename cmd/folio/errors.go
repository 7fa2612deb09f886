package main

import "errors"

// Errors of names on the command line.
var (
	errNoVolume = errors.New("no such volume")
	errIsVolume = errors.New("is a volume")
	errNotWhole = errors.New("is a path in a volume, and a whole volume is wanted")
	errInVolume = errors.New("is a path in a volume, and not a file on disk")
	errInside   = errors.New("names a directory from within: write the name that it has above")
	errNotDir   = errors.New("is not a directory")
	errTerminal = errors.New("is a terminal")
)

// Errors of new volumes, archives and directories whose name is taken.
var (
	errVolumeExists = errors.New("exists already")
	errSameFile     = errors.New("is source and volume at once")
	errSourceVolume = errors.New("is the volume that this comes out of")
	errOtherFile    = errors.New("is no volume")
	errNotEmpty     = errors.New("is not empty")
	errEmptyArchive = errors.New("is an empty archive, and the volume is not")
)

// Errors of files that a copy, a move or a link cannot replace.
var (
	errItself      = errors.New("is the same file")
	errIntoItself  = errors.New("cannot be put into itself")
	errJustCreated = errors.New("would replace what was put there a moment ago, under the same name")
	errDangling    = errors.New("is a symbolic link that leads nowhere, and nothing is written through it")
)

// Ways out that several errors share.
const (
	nothingChanged = "nothing was changed"
	severalFiles   = "several files need a directory to go to"
)
