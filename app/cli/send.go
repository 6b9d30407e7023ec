package cli

import (
	"github.com/spf13/cobra"

	"rollcall/app/present"
)

func newSend(e *env) *cobra.Command {
	var prompt string
	var queue bool
	return command(&cobra.Command{
		Use:   "send ID -p TEXT",
		Short: "Give a running session a prompt",
		Long: `Give a prompt to the session with this id (a unique prefix is enough). An
idle session begins a turn with it. A working one takes it after its turn if --queue
is given; without it, nothing is sent. A session that has stopped is
continued with "rollcall resume".`,
		Args: oneID,
		RunE: func(_ *cobra.Command, args []string) error {
			if prompt == "" {
				return usageError("a prompt is missing: use -p TEXT")
			}
			s, _, core, err := e.find(args[0], false)
			if err != nil {
				return err
			}
			if err := e.answers(core).Send(e.ctx, s.Agent, s.ID, prompt, queue); err != nil {
				return e.wrapAnswer(&s, err)
			}
			e.printf("%s has the prompt\n", present.Line(s.ID))
			return nil
		},
	},
		withFlag(&prompt, "prompt,p", "the prompt's `TEXT`"),
		withFlag(&queue, "queue", "if a turn is open, send the prompt after it"),
	)
}

func newInterrupt(e *env) *cobra.Command {
	return &cobra.Command{
		Use:   "interrupt ID",
		Short: "End the turn of a session; the session continues to run",
		Long: `Ask the agent of the session with this id (a unique prefix is enough) to
end the turn that is open. The session and its process continue to run; no process is
signalled. "rollcall stop" ends a session.`,
		Args: oneID,
		RunE: func(_ *cobra.Command, args []string) error {
			s, _, core, err := e.find(args[0], false)
			if err != nil {
				return err
			}
			if err := e.answers(core).Interrupt(e.ctx, s.Agent, s.ID); err != nil {
				return e.wrapAnswer(&s, err)
			}
			e.printf("%s was interrupted\n", present.Line(s.ID))
			return nil
		},
	}
}
