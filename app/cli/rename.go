package cli

import (
	"strings"

	"github.com/spf13/cobra"

	"rollcall/app"
	"rollcall/app/present"
)

func newRename(e *env) *cobra.Command {
	var remove bool
	return command(&cobra.Command{
		Use:        "rename ID NAME",
		SuggestFor: []string{"name", "title"},
		Short:      "Give a session a name of your own",
		Long: `Give the session with this id (a unique prefix is enough) a name, which lists, the
menu and notifications show from then on. Rollcall keeps it; the agent's files stay as
they are. --clear removes the name.`,
		Args: func(cmd *cobra.Command, args []string) error {
			if remove {
				return oneID(cmd, args)
			}
			if len(args) != 2 || strings.TrimSpace(args[1]) == "" {
				return usageError("rename needs one session id and one name: rollcall rename ID \"NAME\", or --clear to remove a name")
			}
			return nil
		},
		RunE: func(_ *cobra.Command, args []string) error {
			name := ""
			if !remove {
				name = args[1]
			}
			return e.rename(args[0], name)
		},
	},
		withFlag(&remove, "clear", "remove the name"),
	)
}

// rename stores the user's name for a session; an empty one removes it.
func (e *env) rename(id, name string) error {
	s, err := e.mark(id, func(_ *app.Session, mark *app.Mark) error {
		mark.Name = name
		return nil
	})
	if err != nil {
		return err
	}
	if name == "" {
		e.printf("%s has no name of yours\n", present.Line(s.ID))
		return nil
	}
	e.printf("%s is called “%s”\n", present.Line(s.ID), present.Line(name))
	return nil
}
