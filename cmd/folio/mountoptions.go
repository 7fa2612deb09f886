package main

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/foliofs/folio/mount"
)

// A mountOptions is the value of -o: options as mount(8) has them, with commas between.
type mountOptions struct {
	mount.Options
	nonempty bool
	snapshot string   // that is mounted in place of the volume
	words    []string // those that mean something here, as they were given
}

// mountWords are options that a volume has a meaning for. Those that end in = have a value.
var mountWords = map[string]func(o *mountOptions, value string) error{
	"ro":          func(o *mountOptions, _ string) error { o.ReadOnly = true; return nil },
	"rw":          func(o *mountOptions, _ string) error { o.ReadOnly = false; return nil },
	"allow_other": func(o *mountOptions, _ string) error { o.AllowOther = true; return nil },
	"noxattr":     func(o *mountOptions, _ string) error { o.NoXattrs = true; return nil },
	"nonempty":    func(o *mountOptions, _ string) error { o.nonempty = true; return nil },
	"uid=":        func(o *mountOptions, value string) error { return setID(&o.UID, value) },
	"gid=":        func(o *mountOptions, value string) error { return setID(&o.GID, value) },
	"umask=":      (*mountOptions).setUmask,
	"snapdir=":    (*mountOptions).setSnapshotDir,
	"remount":     func(*mountOptions, string) error { return errRemount },
	"snapshot=":   func(o *mountOptions, value string) error { o.snapshot = value; return nil },
}

// kernelWords are options that the kernel takes for any file system.
const kernelWords = " exec noexec suid nosuid dev nodev "

// idleWords are options that say something to mount(8) alone, or that are always so here.
const idleWords = " defaults auto noauto user nouser users owner group nofail _netdev async default_permissions " +
	"atime noatime diratime nodiratime relatime norelatime strictatime nostrictatime "

// set adds the options of one -o.
func (o *mountOptions) set(list string) error {
	for word := range strings.SplitSeq(list, ",") {
		if err := o.add(word); err != nil {
			return err
		}
	}
	return nil
}

// errRemount names the call of mount(8) that skips its helpers: the kernel needs none for this.
var errRemount = errors.New("remount needs no helper: mount -i -o remount,ro DIR")

// errUnknownOption is the error of an option that mount.folio -s passes over.
var errUnknownOption = errors.New("unknown option")

func (o *mountOptions) add(word string) error {
	name, value, valued := strings.Cut(word, "=")
	if valued {
		name += "="
	}
	if set := mountWords[name]; set != nil {
		o.words = append(o.words, word)
		return set(o, value)
	}
	switch {
	case strings.Contains(kernelWords, " "+word+" "):
		o.words = append(o.words, word)
		o.Options.Options = append(o.Options.Options, word)
	case word == "", strings.Contains(idleWords, " "+word+" "), name == "comment=",
		strings.HasPrefix(word, "x-"), strings.HasPrefix(word, "X-"):
	default:
		return fmt.Errorf("%w %q", errUnknownOption, word)
	}
	return nil
}

// addFlag adds an option with a flag of its own, if the flag is set.
func (o *mountOptions) addFlag(set bool, word string) {
	if set {
		_ = o.add(word) // an option that it knows
	}
}

func setID(id **uint32, value string) error {
	n, err := strconv.ParseUint(value, 10, 32)
	if err != nil {
		return fmt.Errorf("%q is no number of a user or group", value)
	}
	number := uint32(n)
	*id = &number
	return nil
}

func (o *mountOptions) setUmask(value string) error {
	n, err := strconv.ParseUint(value, 8, 32)
	if err != nil || n > 0o777 {
		return fmt.Errorf("umask %q is not between 0 and 777, in octal", value)
	}
	o.Umask = uint32(n)
	return nil
}

func (o *mountOptions) setSnapshotDir(value string) error {
	dirs := map[string]mount.SnapshotDir{"hidden": mount.SnapshotsHidden, "visible": mount.SnapshotsVisible, "none": mount.SnapshotsNone}
	dir, ok := dirs[value]
	if !ok {
		return fmt.Errorf("snapdir %q is not hidden, visible or none", value)
	}
	o.SnapshotDir = dir
	return nil
}
