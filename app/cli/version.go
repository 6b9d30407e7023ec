package cli

import (
	"fmt"
	"runtime"
	"runtime/debug"

	"github.com/spf13/cobra"

	"rollcall/app/present"
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

func newVersion(e *env) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "version",
		Short: "Show the version",
		Args:  noArgs,
		RunE: func(*cobra.Command, []string) error {
			v := versionAsJSON(e.deps.Version)
			if asJSON {
				return e.json(v)
			}
			e.printf("%s\n", v)
			return nil
		},
	}
	jsonFlag(cmd, &asJSON)
	return cmd
}

func versionAsJSON(v Version) versionJSON {
	return versionJSON{Schema: schema, Version: v.Version, Commit: v.Commit, Date: v.Date, Build: v.Build,
		Go: runtime.Version(), OS: runtime.GOOS, Arch: runtime.GOARCH}
}

func (v versionJSON) String() string {
	s := fmt.Sprintf("rollcall %s (%s, %s/%s, %s", v.Version, v.Build, v.OS, v.Arch, v.Go)
	if v.Commit != "" {
		s += ", commit " + present.Begin(v.Commit, 12)
	}
	return s + ")"
}

// BuildVersion returns what the linker and the Go tool record of this build. version is
// the linker's, or empty; build is "desktop" or "headless".
func BuildVersion(version, build string) Version {
	v := Version{Version: version, Build: build}
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return v
	}
	if v.Version == "" {
		v.Version = info.Main.Version
	}
	dirty := false
	for _, s := range info.Settings {
		switch s.Key {
		case "vcs.revision":
			v.Commit = s.Value
		case "vcs.time":
			v.Date = s.Value
		case "vcs.modified":
			dirty = s.Value == "true"
		}
	}
	if dirty && v.Commit != "" {
		v.Commit = fmt.Sprintf("%.12s+changes", v.Commit)
	}
	return v
}
