package cli

import (
	"time"

	"github.com/spf13/cobra"

	"rollcall/app/store/quiet"
)

func newDND(e *env) *cobra.Command {
	var asJSON bool
	return command(&cobra.Command{
		Use:   "dnd",
		Short: "Show or change whether notifications are withheld (do not disturb)",
		Long: `Show whether notifications are withheld. "rollcall dnd on" withholds them, "rollcall dnd
off" ends that. When it ends, one notification shows which sessions still wait for you.
Sessions that end meanwhile are not reported; the tray's menu lists the last ones.`,
		Args: noCommand,
		RunE: with(e.deps.Quiet, func(q *quiet.Quiet, _ []string) error {
			s, err := q.Get()
			if err != nil {
				return err
			}
			return printQuiet(e, s, asJSON)
		}),
	},
		jsonFlag(&asJSON), withCommands(newDNDOn(e), newDNDOff(e)),
	)
}

func newDNDOn(e *env) *cobra.Command {
	var length time.Duration
	var until string
	return command(&cobra.Command{
		Use:   "on",
		Short: "Withhold notifications",
		Example: `  rollcall dnd on --for 1h
  rollcall dnd on --until 18:00`,
		Args: oneOf("for", "until"),
		RunE: with(e.deps.Quiet, func(q *quiet.Quiet, _ []string) error {
			now := time.Now()
			var end time.Time
			var err error
			switch {
			case length < 0:
				return usageError("--for must be a time such as 30m or 2h")
			case length > 0:
				end = now.Add(length)
			case until != "":
				end, err = quiet.ParseUntil(until, now)
				if err != nil {
					return usageError("--until: %w", err)
				}
			}
			s, err := q.On(now, end)
			if err != nil {
				return err
			}
			return printQuiet(e, s, false)
		}),
	},
		withFlag(&length, "for", "how long, such as 1h (default: until it is turned off)"),
		withFlag(&until, "until", "a `time` such as 18:00, or a day and a time as \"YYYY-MM-DD 09:00\""),
	)
}

func newDNDOff(e *env) *cobra.Command {
	return &cobra.Command{
		Use:   "off",
		Short: "Show notifications again",
		Args:  noArgs,
		RunE: with(e.deps.Quiet, func(q *quiet.Quiet, _ []string) error {
			if err := q.Off(); err != nil {
				return err
			}
			return printQuiet(e, quiet.State{}, false)
		}),
	}
}

type quietJSON struct {
	Schema int    `json:"schema"`
	On     bool   `json:"on"`
	Since  string `json:"since,omitempty"`
	Until  string `json:"until,omitempty"`
}

func printQuiet(e *env, s quiet.State, asJSON bool) error {
	active := s.Active(time.Now())
	if asJSON {
		out := quietJSON{Schema: schema, On: active}
		if active {
			out.Since, out.Until = timestamp(s.Since), timestamp(s.Until)
		}
		return e.json(out)
	}
	switch {
	case !active:
		e.printf("do not disturb is off\n")
	case s.Until.IsZero():
		e.printf("do not disturb is on\n")
	default:
		e.printf("do not disturb is on until %s\n", clock(s.Until))
	}
	return nil
}
