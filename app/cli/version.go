package cli

import (
	"fmt"
	"runtime"

	"github.com/spf13/cobra"
)

type versionJSON struct {
	Schema  int    `json:"schema"`
	Version string `json:"version"`
	Commit  string `json:"commit,omitempty"`
	Date    string `json:"date,omitempty"`
	Build   string `json:"build"`
	Go      string `json:"go"`
	OS      string `json:"os"`
	Arch    string `json:"arch"`
}

func (c *command) version() versionJSON {
	v := c.deps.Version
	return versionJSON{Schema: schema, Version: v.Version, Commit: v.Commit, Date: v.Date, Build: v.Build,
		Go: runtime.Version(), OS: runtime.GOOS, Arch: runtime.GOARCH}
}

func (v versionJSON) String() string {
	s := fmt.Sprintf("rollcall %s (%s, %s/%s, %s", v.Version, v.Build, v.OS, v.Arch, v.Go)
	if v.Commit != "" {
		s += ", commit " + begin(v.Commit, 12)
	}
	return s + ")"
}

func (c *command) versionCommand() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "version",
		Short: "Tell the version",
		Args:  noArgs,
		RunE: func(*cobra.Command, []string) error {
			if asJSON {
				return c.printJSON(c.version())
			}
			fmt.Fprintln(&c.out, c.version())
			return nil
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return cmd
}
