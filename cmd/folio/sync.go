package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/spf13/cobra"

	"github.com/foliofs/folio"
	"github.com/foliofs/folio/cmd/folio/internal/failure"
	"github.com/foliofs/folio/cmd/folio/internal/location"
	"github.com/foliofs/folio/cmd/folio/internal/mirror"
	"github.com/foliofs/folio/cmd/folio/internal/terminal"
	"github.com/foliofs/folio/cmd/folio/internal/tree"
	"github.com/foliofs/folio/cmd/folio/internal/tree/disk"
	"github.com/foliofs/folio/cmd/folio/internal/value"
)

// A syncer makes a directory of a volume like one on disk.
type syncer struct {
	*command
	options                mirror.Options
	create, verbose, quiet bool

	src string
	loc location.Location

	mu       sync.Mutex // guards what follows: several goroutines warn and count
	progress *terminal.Progress
}

const syncLong = `Make a directory of a volume like the directory SRC, by copying the files that differ. The files in SRC
go to PATH, which is made if it does not exist. --create makes VOLUME if it does not exist.

A file is taken to be the same if its type, size and time of the last change are the same. With
--checksum, contents are compared. Modes, owners, times, symbolic links, hard links, devices, fifos,
holes and the extended attributes user.*, for root also trusted.* and security.*, become those of SRC.
Files that SRC does not have stay, or are removed with --delete.

Each file is replaced as a whole. After an error or an interruption, each file is as it was or as it is
in SRC, and the next sync does the rest. A file that cannot be read, or changes while it is read, is
named and left as it was, and the exit code is 1. A file that vanishes is only named.`

func (c *command) syncCommand() *cobra.Command {
	s := &syncer{command: c}
	cmd := writingCommand("sync SRC VOLUME[:PATH]", "Make a directory of a volume like one on disk",
		syncLong,
		`  folio sync ~/photos photos.folio
  folio sync --create ~/letters letters.folio
  folio sync --delete --dry-run -v site backup.folio:site`,
		between(2, 2, "SRC and VOLUME[:PATH]"))
	cmd.ValidArgsFunction = completeLater(cobra.ShellCompDirectiveFilterDirs)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		s.src, s.loc = args[0], location.Parse(args[1])
		return s.run(cmd.Context())
	}
	flags := cmd.Flags()
	flags.BoolVarP(&s.options.Checksum, "checksum", "c", false, "compare contents, not sizes and times")
	createFlag(flags, &s.create)
	flags.BoolVar(&s.options.Delete, "delete", false, "remove from PATH what SRC does not have")
	flags.BoolVarP(&s.options.DryRun, "dry-run", "n", false, "change nothing, and tell what would be done")
	flags.BoolVarP(&s.verbose, "verbose", "v", false, "name everything that is changed")
	flags.BoolVarP(&s.quiet, "quiet", "q", false, "show neither progress nor summary")
	return cmd
}

func (s *syncer) run(ctx context.Context) error {
	if err := s.checkOperands(); err != nil {
		return err
	}
	start := time.Now()
	skip, err := location.SkipVolume(s.loc.Volume, false)
	if err != nil {
		return err
	}
	t, err := disk.OpenDir(s.src, &tree.Options{Skip: skip})
	if err != nil {
		return failure.At(s.src, err)
	}
	defer t.Close()
	v, err := s.open()
	if err != nil {
		return err
	}
	stats, err := s.mirror(ctx, t, v)
	if v != nil {
		err = cmp.Or(err, location.CloseVolume(&s.Streams, v))
	}
	if err != nil {
		return s.failure(err)
	}
	if !s.quiet {
		fmt.Fprintf(s.Stdout, "%s: %s\n", s.Name(s.loc.String()), s.summary(&stats, time.Since(start)))
	}
	if stats.Skipped > 0 {
		return errSilent
	}
	return nil
}

var errSyncOut = errors.New("is in a volume, and sync copies from a directory on disk into a volume")

// checkOperands refuses a source in a volume, and a snapshot.
func (s *syncer) checkOperands() error {
	if err := s.loc.CheckWritable(); err != nil {
		return err
	}
	if err := location.InFile(s.src, "folio cp -a copies from there"); err != nil {
		return err
	}
	if location.IsVolume(s.src) || !location.Exists(s.src) && location.VolumeBefore(s.src) != "" {
		return failure.Hint(failure.At(s.src, errSyncOut), "folio export copies the other way")
	}
	return nil
}

// open opens the volume, or makes it if --create is set. For a dry run, nil stands for a new
// volume.
func (s *syncer) open() (*folio.Volume, error) {
	dry := s.options.DryRun
	v, err := s.loc.OpenVolume(&folio.Options{Create: s.create && !dry, ReadOnly: dry, CacheSize: -1}) // nothing is asked for twice
	switch missing := errors.Is(err, fs.ErrNotExist) && !location.OnServer(s.loc.Volume); {
	case missing && s.create && dry:
		return nil, nil
	case missing && !s.create:
		err = failure.Rehint(&fs.PathError{Path: s.loc.Volume, Err: failure.ErrNoVolume}, location.CreatesOne)
	}
	return v, failure.At(s.loc.Volume, err)
}

func (s *syncer) mirror(ctx context.Context, t *disk.Tree, v *folio.Volume) (mirror.Stats, error) {
	s.progress = s.NewProgress("syncing", s.quiet || s.verbose)
	defer s.progress.Done()
	s.options.Warn = s.warn
	if s.progress.Shown() {
		s.options.Seen = s.seen
	}
	if s.verbose {
		s.options.Changed = s.changed
	}
	return mirror.Run(ctx, t, v, s.loc.Path, &s.options)
}

func (s *syncer) seen(files int, bytes int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.progress.AddFiles(files)
	s.progress.AddBytes(bytes)
}

func (s *syncer) warn(name string, why error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	name = filepath.Join(s.src, filepath.FromSlash(name))
	s.Streams.Warn(failure.Rehint(&fs.PathError{Path: name, Err: why}, leftOut(why)))
}

// leftOut tells the user how a file that could not be copied was left, and how to get past that.
func leftOut(why error) string {
	switch {
	case errors.Is(why, tree.ErrSocket):
		return "left out"
	case errors.Is(why, mirror.ErrFirst):
		return "left out; sync again"
	case errors.Is(why, mirror.ErrInTheWay):
		return "--delete replaces it"
	case errors.Is(why, tree.ErrChanged):
		return "left as it was; sync again when it is at rest"
	}
	return "left as it was"
}

var kindWords = [...]string{
	mirror.New: "new", mirror.Changed: "changed", mirror.Attributes: "attributes", mirror.Linked: "linked", mirror.Removed: "removed",
}

var countWords = [...]string{
	mirror.New: "new", mirror.Changed: "changed", mirror.Attributes: "with new attributes", mirror.Linked: "linked",
	mirror.Removed: "removed",
}

func (s *syncer) changed(c mirror.Change) {
	name := c.Path
	if c.IsDir && name != "." {
		name += "/"
	}
	fmt.Fprintf(s.Stdout, "%-10s %s\n", kindWords[c.Kind], s.Name(name))
	if s.OutTerminal {
		_ = s.Stdout.Flush() // a writer that failed goes on failing
	}
}

func (s *syncer) failure(err error) error {
	if _, ok := errors.AsType[*tree.EntryError](err); ok {
		return failure.InTree(s.src, err)
	}
	p := s.loc.Path
	if e, ok := errors.AsType[*fs.PathError](err); ok && e.Path != s.loc.Volume {
		p, err = path.Clean(e.Path), e.Err
	}
	if errors.Is(err, folio.ErrReadOnly) {
		return s.loc.ReadOnly(err)
	}
	return failure.Hint(s.loc.Failure(p, err), "what was copied before stays")
}

func (s *syncer) summary(st *mirror.Stats, took time.Duration) string {
	var counts []counted
	for kind, n := range st.Done {
		counts = append(counts, counted{n, countWords[kind]})
	}
	counts = append(counts, counted{st.Same, unchanged}, counted{st.Skipped, "left out"})
	return summary(s.options.DryRun, counts, fmt.Sprintf("%s copied in %.2f s", value.BinarySize(st.Bytes), took.Seconds()))
}

// A counted is how many files something was done to.
type counted struct {
	n    int64
	what string
}

const unchanged = "unchanged"

// summary returns the last line of sync and restore, for example "3 new, 7 unchanged, 1.2 MiB
// copied in 0.05 s". A count of 0 is left out, except for unchanged files.
func summary(dryRun bool, counts []counted, written string) string {
	var parts []string
	for _, c := range counts {
		if c.n > 0 || c.what == unchanged {
			parts = append(parts, value.Grouped(c.n)+" "+c.what)
		}
	}
	text := strings.Join(append(parts, written), ", ")
	if dryRun {
		text = "dry run: " + text
	}
	return text
}
