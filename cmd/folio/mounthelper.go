package main

import (
	"context"
	"errors"
	"io"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"github.com/foliofs/folio/cmd/folio/internal/location"
	"github.com/foliofs/folio/cmd/folio/internal/terminal"
)

// helperName is the name under which mount(8) runs this program, for example for a line of fstab
// with the type folio.
const helperName = "mount.folio"

// Exit codes of a helper of mount(8).
const (
	helperUsage  = 1
	helperFailed = 32
)

// runHelper runs the program as a helper of mount(8), and returns its exit code.
func runHelper(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	c := &command{Streams: terminal.New(strings.NewReader(""), stdout, stderr)}
	c.Hidden = location.Hiding(args)
	switch c.execute(ctx, c.helper(), args) {
	case exitOK:
		return 0
	case exitUsage:
		return helperUsage
	}
	return helperFailed
}

// helper returns the command that mount(8) calls: mount.folio VOLUME DIR [-sfnv] [-o OPTIONS].
func (c *command) helper() *cobra.Command {
	m := &mounter{command: c, background: true}
	cmd := writingCommand(helperName+" VOLUME[:PATH] DIR", "Mount a volume, for mount(8)",
		`Mount a volume in the background. mount(8) calls this program for file systems of the type folio, if it
is in /sbin under this name.`,
		"  /srv/photos.folio  /mnt/photos  folio  noauto,user  0  0    # in /etc/fstab",
		between(2, 2, "VOLUME and DIR"))
	cmd.SilenceErrors, cmd.SilenceUsage, cmd.DisableAutoGenTag = true, true, true
	cmd.PersistentPreRun = c.start
	cmd.CompletionOptions.DisableDefaultCmd = true
	var lists []string
	var sloppy, fake bool
	operands := cmd.Args
	cmd.Args = func(cmd *cobra.Command, args []string) error {
		if err := m.options.setAll(lists, sloppy); err != nil {
			return usageError(cmd, err)
		}
		return operands(cmd, args)
	}
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if fake {
			return nil
		}
		return m.run(cmd.Context(), args[0], args[1])
	}
	flags := cmd.Flags()
	flags.StringArrayVarP(&lists, "options", "o", nil, "`options` of mount(8), with commas between")
	flags.BoolVarP(&sloppy, "sloppy", "s", false, "pass over options that are unknown")
	flags.BoolVarP(&fake, "fake", "f", false, "mount nothing")
	flags.BoolP("no-mtab", "n", false, "write no /etc/mtab: it is never written")
	flags.BoolP("verbose", "v", false, "say more: there is no more to say")
	flags.StringP("types", "t", "", "the `type` of the file system, which is folio")
	return cmd
}

// setAll adds the options of several -o. mount(8) gives the helper no options that are its
// defaults, which are suid and dev for root.
func (o *mountOptions) setAll(lists []string, sloppy bool) error {
	words := strings.Split(strings.Join(lists, ","), ",")
	if os.Geteuid() == 0 {
		words = append([]string{"suid", "dev"}, words...)
	}
	for _, word := range words {
		if err := o.add(word); err != nil && !(sloppy && errors.Is(err, errUnknownOption)) {
			return err
		}
	}
	return nil
}
