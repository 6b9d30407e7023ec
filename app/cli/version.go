package cli

import (
	"errors"
	"fmt"
	"runtime"
	"runtime/debug"

	"github.com/spf13/cobra"

	"rollcall/app/present"
	"rollcall/app/self/updates"
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
	// Newest is set by --check alone.
	Newest string `json:"newest,omitempty"`
	Page   string `json:"page,omitempty"`
	Update bool   `json:"update,omitempty"`
}

func newVersion(e *env) *cobra.Command {
	var asJSON, check bool
	return command(&cobra.Command{
		Use:   "version",
		Short: "Show the version, or check for a newer one",
		Long: `Show the version of this program. With --check, also read the newest version from the
feed in the settings:

  [updates]
  feed = "https://…"

Only this command and the button on the window's page of settings read the feed. They
send nothing about this machine.`,
		Args: noArgs,
		RunE: func(*cobra.Command, []string) error {
			v := versionAsJSON(e.deps.Version)
			var newest string
			if check {
				var err error
				newest, err = e.newest(&v)
				if err != nil {
					return err
				}
			}
			if asJSON {
				return e.json(v)
			}
			e.printf("%s\n%s", v, newest)
			return nil
		},
	},
		jsonFlag(&asJSON),
		withFlag(&check, "check", "read the newest version from the feed in the settings"),
	)
}

// newest asks the feed of the settings, adds its answer to v and returns the answer as lines of text.
func (e *env) newest(v *versionJSON) (string, error) {
	r, err := updates.Newest(e.ctx, e.settings().Updates.Feed)
	if errors.Is(err, updates.ErrNoFeed) {
		return "", usageError("%w", err)
	}
	if err != nil {
		return "", err
	}
	v.Newest, v.Page = r.Version, r.Page
	v.Update, _ = r.IsNewer(v.Version)
	text := r.Describe(v.Version)
	if r.Page != "" && v.Update {
		text += "\n" + present.Line(r.Page)
	}
	return text + "\n", nil
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
