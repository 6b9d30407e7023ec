package cli

import (
	"github.com/spf13/cobra"

	"rollcall/app"
	"rollcall/app/owned/launch"
	"rollcall/app/owned/metrics"
)

type metricsCommand struct {
	*env
	file   string
	strict bool
}

func newMetrics(e *env) *cobra.Command {
	c := &metricsCommand{env: e}
	return command(&cobra.Command{
		Use:        "metrics",
		SuggestFor: []string{"prometheus", "stats"},
		Short:      "Print metrics for Prometheus",
		Long: `Print the numbers of live sessions, waits, tokens, locks, fuses and launches once, in
Prometheus' text format. With --textfile they go to a file instead, which is replaced
as a whole, for the textfile collector of node_exporter.`,
		Example: `  rollcall metrics
  rollcall metrics --textfile /var/lib/node_exporter/rollcall.prom`,
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if c.file == "" && cmd.Flags().Changed("textfile") {
				return usageError("--textfile needs the path of a file")
			}
			return c.run()
		},
	},
		withFlag(&c.file, "textfile", "write the metrics to this `file`"),
		strictFlag(&c.strict),
	)
}

func (c *metricsCommand) run() error {
	_, snap, err := c.refresh(0, true)
	if err != nil {
		return err
	}
	l, _ := c.launches()
	f, _ := c.deps.Fuses()
	look, err := metrics.Read(c.ctx, snap, l, f)
	if err != nil {
		c.warn(err.Error())
	}
	agents, _ := c.open()
	look.Limits = app.LimitsOf(c.ctx, agents, c.deps.Limit)
	look.Version, look.Build = c.deps.Version.Version, c.deps.Version.Build
	if c.file == "" {
		err = look.Write(&c.out)
	} else {
		err = look.WriteFile(launch.Path(c.file))
	}
	if c.warnFailed(snap) && c.strict && err == nil {
		return c.incomplete(nil)
	}
	return err
}
