package cli

import "github.com/spf13/cobra"

// WindowOptions holds the options of `rollcall window`.
type WindowOptions struct {
	Session  string // id of the session to show; empty: none
	Launch   bool   // open at the launch page
	Settings bool   // open at the settings
	Queue    bool   // open at the queue of what waits for the user, at the request of Session if Session is set
}

func newWindow(e *env) *cobra.Command {
	var o WindowOptions
	return command(&cobra.Command{
		Use:    "window",
		Short:  "Open the window",
		Hidden: e.deps.Window == nil,
		Args:   oneOf("launch", "queue", "settings"),
		RunE: func(*cobra.Command, []string) error {
			if e.deps.Window == nil {
				return usageError("this build has no window")
			}
			return endError(e.ctx, e.deps.Window(e.ctx, o))
		},
	},
		withFlag(&o.Session, "session", "show the session with this `id`"),
		withFlag(&o.Launch, "launch", "open at the launch page"),
		withFlag(&o.Queue, "queue", "open at what waits for you; with --session, at its request"),
		withFlag(&o.Settings, "settings", "open at the settings"),
		exclusive("launch", "queue", "settings"),
	)
}
