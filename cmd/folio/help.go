package main

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"
)

// helpCommand is help COMMAND... It refuses a command that there is not.
func (c *command) helpCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "help [COMMAND]",
		Short: "Help about a command",
		Long:  "Print the help of a command, as COMMAND --help does, or without COMMAND a list of all commands.",
	}
	about := (*cobra.Command)(nil)
	cmd.ValidArgsFunction = completeCommand
	cmd.Args = func(cmd *cobra.Command, args []string) error {
		about = cmd.Root()
		for i, name := range args {
			next := subcommand(about, name)
			if next == nil {
				return c.noSuchCommand(about, args[i:])
			}
			about = next
		}
		return nil
	}
	cmd.RunE = func(*cobra.Command, []string) error {
		about.InitDefaultHelpFlag()
		about.InitDefaultVersionFlag()
		return about.Help()
	}
	return cmd
}

// subcommand returns the command of a name below another one, or nil.
func subcommand(of *cobra.Command, name string) *cobra.Command {
	for _, sub := range of.Commands() {
		if sub.Name() == name {
			return sub
		}
	}
	return nil
}

func (c *command) noSuchCommand(of *cobra.Command, args []string) error {
	if of.HasSubCommands() {
		return c.unknownCommand(of, args)
	}
	return usageError(of, fmt.Errorf("%s has no command %q", of.CommandPath(), args[0]))
}

// help is the help function of all commands: usual, except for --help behind a command that there
// is not.
func (c *command) help(usual func(*cobra.Command, []string)) func(*cobra.Command, []string) {
	return func(cmd *cobra.Command, args []string) {
		if words := cmd.Flags().Args(); cmd.HasSubCommands() && len(words) > 0 {
			c.noHelp = c.unknownCommand(cmd, words)
			return
		}
		usual(cmd, args)
	}
}

// completeCommand completes names of commands behind help.
func completeCommand(cmd *cobra.Command, args []string, word string) (names []string, _ cobra.ShellCompDirective) {
	about := cmd.Root()
	for _, name := range args {
		if about = subcommand(about, name); about == nil {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
	}
	for _, sub := range about.Commands() {
		if sub.IsAvailableCommand() && strings.HasPrefix(sub.Name(), word) {
			names = append(names, sub.Name()+"\t"+sub.Short)
		}
	}
	return names, cobra.ShellCompDirectiveNoFileComp
}
