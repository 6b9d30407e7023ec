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
	cmd := &cobra.Command{
		Use:   "window",
		Short: "Open the window",
		Args:  oneOf("launch", "queue", "settings"),
		RunE: func(*cobra.Command, []string) error {
			if e.deps.Window == nil {
				return usageError("this build has no window")
			}
			return endError(e.ctx, e.deps.Window(e.ctx, o))
		},
	}
	cmd.Flags().StringVar(&o.Session, "session", "", "show the session with this `id`")
	cmd.Flags().BoolVar(&o.Launch, "launch", false, "open at the launch page")
	cmd.Flags().BoolVar(&o.Queue, "queue", false, "open at what waits for you; with --session, at its request")
	cmd.Flags().BoolVar(&o.Settings, "settings", false, "open at the settings")
	cmd.MarkFlagsMutuallyExclusive("launch", "queue", "settings")
	cmd.Hidden = e.deps.Window == nil
	return cmd
}
