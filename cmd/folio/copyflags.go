package main

import (
	"errors"

	"github.com/spf13/cobra"

	"github.com/foliofs/folio/cmd/folio/internal/copier"
)

// copyFlags are the flags of cp, put and get.
func copyFlags(cmd *cobra.Command, c *copier.Copy) {
	flags := cmd.Flags()
	flags.BoolVarP(&c.Recursive, "recursive", "r", false, "copy directories with all that is in them")
	flags.BoolVarP(&c.Recursive, "Recursive", "R", false, "the same")
	flags.Lookup("Recursive").Hidden = true
	flags.BoolVarP(&c.Preserve, "preserve", "p", false, "keep modes, owners and times")
	flags.BoolVarP(&c.Archive, "archive", "a", false, "copy all there is: as -r and -p do, with hard links and extended attributes")
	flags.BoolVarP(&c.Quiet, "quiet", "q", false, "show no progress")
	flags.BoolVarP(&c.NoClobber, "no-clobber", "n", false, "pass over files whose new name is taken")
	exactFlag(cmd, &c.Exact)
	flags.BoolP("force", "f", false, "replace files that may not be written, too: that is always so")
	flags.BoolVarP(&c.OnlyNewer, "update", "u", false, "pass over files that are not older than what is copied")
	flags.BoolVarP(&c.Verbose, "verbose", "v", false, "name each file that is copied")
	flags.BoolFuncP("interactive", "i", "not supported; see -n and -u", func(string) error { return errNoQuestions })
	flags.Lookup("interactive").Hidden = true
}

var errNoQuestions = errors.New("a copy is one transaction and asks nothing: -n passes over files whose name is taken, -u over those that are not older")

func exactFlag(cmd *cobra.Command, value *bool) {
	cmd.Flags().BoolVarP(value, "no-target-directory", "T", false, "DEST is the new name, even if a directory has it")
}

// reflinkFlag is the flag of cp as that of coreutils has it, except that without it nothing is
// shared: older versions of Folio do not open a volume in which files share content.
func reflinkFlag(cmd *cobra.Command, value *copier.Reflink) {
	cmd.Flags().Func("reflink", "share content within a volume: `WHEN` is always, auto (where that is possible) or never, the default", func(s string) error {
		switch *value = copier.Reflink(s); *value {
		case copier.ReflinkAlways, copier.ReflinkAuto, copier.ReflinkNever:
			return nil
		}
		return errReflink
	})
	cmd.Flags().Lookup("reflink").NoOptDefVal = string(copier.ReflinkAlways)
}

var errReflink = errors.New("it is always, auto or never")
