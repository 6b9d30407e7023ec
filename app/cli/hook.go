package cli

import (
	"github.com/spf13/cobra"

	"rollcall/app/launch"
)

func newHook(e *env) *cobra.Command {
	return newGroup("hook", "Run the hooks of a launch again", "", &cobra.Command{
		Use:   "retry LAUNCH",
		Short: "Run the hooks of a launch again whose result is not known",
		Long: `Run those hooks of a launch again that were started and whose result is not known,
because Rollcall ended meanwhile (rollcall status shows them). They may then run twice.`,
		Args: oneLaunch,
		RunE: e.withLaunches(func(l *launch.Launches, args []string) error {
			if err := l.RetryHooks(e.ctx, args[0]); err != nil {
				return err
			}
			e.printf("its hooks run again now\n")
			return nil
		}),
	})
}
