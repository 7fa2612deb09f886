package main

import (
	"context"
	"errors"
	"io"
	"log"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/foliofs/folio"
	"github.com/foliofs/folio/cmd/folio/internal/failure"
	"github.com/foliofs/folio/cmd/folio/internal/location"
	"github.com/foliofs/folio/cmd/folio/internal/mountpoint"
	"github.com/foliofs/folio/mount"
)

// A mounter mounts one volume.
type mounter struct {
	*command
	options    mountOptions
	background bool
	daemon     bool // this process is the one in the background

	loc  location.Location
	dir  string // as the command line has it
	real string // resolved

	closed func() // tells those who wait that the volume is closed
}

const mountLong = `Mount a volume, or a directory of it, at the directory DIR, so that every program can use it. Other
processes can read and write the volume meanwhile, and the mount shows what they change.

The command ends when the volume is unmounted: by folio unmount, by umount, or by a signal to this
command, such as Ctrl-C. With --background it returns as soon as the volume is mounted, and a process in
the background serves it. A snapshot, VOLUME@NAME, is mounted for reading only.

DIR must be an empty directory; --nonempty hides what is in it meanwhile. Mounting works on Linux, with
FUSE. Users other than root need fusermount3, of the package fuse3.

  -o takes options as mount(8) has them: ro, rw, allow_other, uid=N, gid=N, umask=OCTAL, nonempty, noxattr,
    noexec, nosuid, nodev and the opposites of these. Those that are for mount(8) alone, such as noauto, do
    nothing. snapshot=NAME mounts a snapshot, as VOLUME@NAME does.

The snapshots of a volume that is mounted are in DIR/.snapshots, as directories that cannot be changed. It
is not listed in DIR, unless -o snapdir=visible is given; with -o snapdir=none there is no such directory.`

func (c *command) mountCommand() *cobra.Command {
	m := &mounter{command: c, closed: func() {}}
	cmd := writingCommand("mount VOLUME[:PATH] DIR", "Mount a volume, for every program",
		mountLong,
		`  folio mount photos.folio /mnt/photos
  folio mount --background --read-only goroot.folio:src /mnt/src
  folio mount photos.folio@monday /mnt/monday
  folio unmount /mnt/src`,
		between(2, 2, "VOLUME[:PATH] and DIR"))
	cmd.ValidArgsFunction = func(cmd *cobra.Command, args []string, word string) ([]string, cobra.ShellCompDirective) {
		if len(args) == 0 {
			return completeLocation(cmd, args, word)
		}
		return nil, cobra.ShellCompDirectiveFilterDirs
	}
	var readOnly, allowOther, nonempty bool
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		m.options.addFlag(readOnly, "ro")
		m.options.addFlag(allowOther, "allow_other")
		m.options.addFlag(nonempty, "nonempty")
		volume, err := m.volume(args[0])
		if err != nil {
			return err
		}
		return m.run(cmd.Context(), volume, args[1])
	}
	flags := cmd.Flags()
	flags.BoolVarP(&m.background, "background", "b", false, "return when the volume is mounted")
	flags.BoolVarP(&readOnly, "read-only", "r", false, "refuse changes through the mount")
	flags.BoolVar(&allowOther, "allow-other", false, "let other users in; the permissions of the files count")
	flags.BoolVar(&nonempty, "nonempty", false, "mount over a directory that is not empty")
	flags.FuncP("options", "o", "`options` of mount(8), with commas between", m.options.set)
	flags.BoolVar(&m.daemon, "daemon", false, "be the process in the background")
	_ = flags.MarkHidden("daemon")
	return cmd
}

// volume returns the volume as the command line named it. The process in the background reads that
// from standard input: what it has as an argument is without a password.
func (m *mounter) volume(arg string) (string, error) {
	if !m.daemon {
		return arg, nil
	}
	given, err := io.ReadAll(m.Stdin)
	return string(given), err
}

// run mounts the volume, and serves it until it is unmounted.
func (m *mounter) run(ctx context.Context, volume, dir string) error {
	m.loc, m.dir = location.Parse(volume), dir
	if err := m.setSnapshot(); err != nil {
		return err
	}
	if err := mountpoint.Able(); err != nil {
		return err
	}
	if m.background {
		return m.startDaemon(ctx, volume)
	}
	v, err := m.open()
	if err != nil {
		return err
	}
	err = m.serve(ctx, v.Volume)
	if closed := location.CloseVolume(&m.Streams, v); err == nil {
		err = failure.At(m.loc.Volume, closed)
	}
	m.closed()
	return err
}

var errTwoSnapshots = errors.New("names a snapshot, and so does -o snapshot")

// setSnapshot lets the option name the snapshot, as VOLUME@NAME does.
func (m *mounter) setSnapshot() error {
	name := m.options.snapshot
	switch {
	case name == "", name == m.loc.Snapshot:
		return nil
	case m.loc.Snapshot != "":
		return failure.At(m.loc.String(), errTwoSnapshots)
	}
	m.loc.Snapshot = name
	return nil
}

// open checks the arguments, and opens the volume or the snapshot.
func (m *mounter) open() (*location.Opened, error) {
	v, err := m.loc.Open()
	if err != nil {
		return nil, err
	}
	if m.real, err = mountpoint.Check(m.dir, m.loc.Volume, m.options.nonempty); err == nil {
		err = m.checkPath(v.Volume)
	}
	if err != nil {
		return nil, errors.Join(err, v.Close())
	}
	return v, nil
}

var errLinkInPath = errors.New("is a symbolic link, or below one")

// checkPath refuses a path in the volume that is no directory.
func (m *mounter) checkPath(v *folio.Volume) error {
	const way = "a directory of the volume can be mounted"
	info, err := v.Stat(m.loc.Path)
	switch {
	case err != nil:
		return m.loc.Failure(m.loc.Path, err)
	case !info.IsDir():
		return failure.Rehint(m.loc.Failure(m.loc.Path, failure.ErrNotDir), way)
	}
	for name := m.loc.Path; name != "."; name = filepath.ToSlash(filepath.Dir(name)) {
		if info, err := v.Lstat(name); err != nil || !info.IsDir() {
			return failure.Rehint(m.loc.Failure(m.loc.Path, errLinkInPath), "name the directory that it leads to")
		}
	}
	return nil
}

func (m *mounter) serve(ctx context.Context, v *folio.Volume) error {
	server, err := m.mount(v)
	if err != nil {
		return err
	}
	m.closed = mountpoint.Announce(m.real)
	stop := context.AfterFunc(ctx, func() { m.unmount(server) })
	defer stop()
	if m.daemon {
		if err := detached(); err != nil {
			return errors.Join(err, server.Unmount())
		}
	}
	server.Wait()
	return nil
}

func (m *mounter) mount(v *folio.Volume) (*mount.Server, error) {
	o := m.options.Options
	o.Daemon = true
	o.Logger = log.New(m.Stderr, "folio: warning: ", 0)
	if m.daemon {
		o.Logger = systemLogger()
	}
	o.ReadOnly = o.ReadOnly || m.loc.Snapshot != ""
	abs, err := m.loc.Volume, error(nil)
	if !location.OnServer(abs) {
		abs, err = filepath.Abs(abs)
	}
	if err != nil {
		return nil, err
	}
	o.Name = location.Location{Volume: abs, Snapshot: m.loc.Snapshot, Path: m.loc.Path}.String()
	if m.loc.Path != "." {
		o.Dir = m.loc.Path
	}
	var server *mount.Server
	said := heard(func() { server, err = mount.Mount(v, m.real, &o) })
	return server, m.mountFailure(err, said)
}

// mountFailure returns an error of mounting in one line. said is what programs have said that were
// to help.
func (m *mounter) mountFailure(err error, said string) error {
	errno, ok := errors.AsType[syscall.Errno](err)
	switch {
	case err == nil:
		return nil
	case said != "":
		err = errors.New(strings.Join(strings.Fields(said), " "))
	case errors.Is(err, exec.ErrNotFound): // fusermount3, which root needs only without the right to mount
		err = syscall.EPERM
	case ok:
		err = errno
	}
	return failure.Hint(failure.At(m.dir, err), "without the right to mount, "+mountpoint.OtherWay)
}

// heard calls fn, and returns the standard error of the programs that it runs.
func heard(fn func()) string {
	r, w, err := os.Pipe()
	if err != nil {
		fn()
		return ""
	}
	stderr := os.Stderr
	os.Stderr = w
	fn()
	os.Stderr = stderr
	_ = w.Close()
	text, _ := io.ReadAll(r)
	_ = r.Close()
	return string(text)
}

var errStillUsed = errors.New("is in use: it is out of sight, and is served until those programs are done")

// unmount ends the mount after a signal. A second signal ends the process.
func (m *mounter) unmount(server *mount.Server) {
	if server.Unmount() == nil {
		return
	}
	if mountpoint.Detach(m.real, mountpoint.Lazily) == nil {
		m.Warn(failure.Rehint(failure.At(m.dir, errStillUsed), "a second signal ends it at once"))
	}
}
