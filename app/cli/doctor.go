package cli

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"rollcall/app"
	"rollcall/app/present"
	"rollcall/app/settings"
	"rollcall/proc"
)

// doctorJSON is what doctor prints as JSON.
type doctorJSON struct {
	Schema      int                 `json:"schema"`
	At          string              `json:"at"`
	Version     versionJSON         `json:"version"`
	Environment []checkJSON         `json:"environment"`
	Adapters    []doctorAdapterJSON `json:"adapters"`
}

// checkJSON is one finding about this machine.
type checkJSON struct {
	Name   string `json:"name"`
	State  string `json:"state"` // ok or failed
	Detail string `json:"detail"`
}

// doctorAdapterJSON is an adapter's entry of list, and what doctor adds.
type doctorAdapterJSON struct {
	adapterJSON
	Problems []string       `json:"problems,omitempty"`
	Missing  []string       `json:"missing,omitempty"` // of looked_in
	Versions map[string]int `json:"versions,omitempty"`
	Format   app.Format     `json:"format,omitempty"` // recognised, partly or unrecognised
	Skipped  map[string]int `json:"skipped,omitempty"`
}

func (c *command) doctorCommand() *cobra.Command {
	var asJSON, strict bool
	cmd := &cobra.Command{
		Use:   "doctor",
		Short: "Tell what was looked at, what was found and what failed",
		Long: `Tell for each agent where its sessions were looked for, how many were found, of
which versions, what could not be read and what to do about it.`,
		Args: noArgs,
		RunE: func(*cobra.Command, []string) error { return c.doctor(asJSON, strict) },
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON, schema 1")
	cmd.Flags().BoolVar(&strict, "strict", false, "exit with 3 when some agent could not be asked")
	return cmd
}

func (c *command) doctor(asJSON, strict bool) error {
	_, table := c.deps.Open()
	core, err := c.core(app.All, false)
	if err != nil {
		return err
	}
	snap := core.Refresh(c.ctx)
	if err := c.ctx.Err(); err != nil {
		return err
	}
	d := doctorJSON{Schema: schema, At: timestamp(snap.At), Version: c.version(),
		Environment: c.environment(table), Adapters: []doctorAdapterJSON{}}
	failed := false
	for _, h := range snap.Adapters {
		failed = failed || h.State == app.Failed
		d.Adapters = append(d.Adapters, doctorAdapterJSON{adapterJSON: adapterAsJSON(h),
			Problems: h.Problems, Missing: missing(h.LookedIn), Versions: h.Versions, Format: h.Format, Skipped: h.Skipped})
	}
	if asJSON {
		err = c.printJSON(d)
	} else {
		c.printDoctor(d)
	}
	if err == nil && failed && strict {
		return errorsAfter(c.flush(), &exitError{code: Incomplete})
	}
	return err
}

// environment is what every adapter depends on.
func (c *command) environment(table proc.Lister) []checkJSON {
	var out []checkJSON
	add := func(name string, err error, detail string) {
		if err != nil {
			out = append(out, checkJSON{name, string(app.Failed), err.Error()})
		} else {
			out = append(out, checkJSON{name, string(app.OK), detail})
		}
	}
	if table != nil {
		list, err := table.List(c.ctx)
		if err == nil && len(list) == 0 {
			err = errors.New("no process is visible: is /proc mounted, and not with hidepid?")
		}
		add("process table", err, fmt.Sprintf("%d processes", len(list)))
	}
	if c.deps.Settings != nil {
		path, err := settings.Path()
		if err == nil {
			_, err = c.settings()
		}
		add("settings", err, path)
	}
	if tree := c.deps.Getenv("HOST_PROC"); tree != "" {
		_, err := os.Stat(filepath.Join(tree, "stat"))
		add("HOST_PROC", err, "processes are read from "+tree)
	}
	if dir := c.deps.Getenv("HOST_ETC"); dir != "" {
		_, err := os.Stat(dir)
		add("HOST_ETC", err, "the machine's id is read from "+dir)
	}
	return out
}

// missing are the places that do not exist.
func missing(places []string) []string {
	var out []string
	for _, p := range places {
		if !filepath.IsAbs(p) {
			continue
		}
		if _, err := os.Lstat(p); errors.Is(err, fs.ErrNotExist) {
			out = append(out, p)
		}
	}
	return out
}

func (c *command) printDoctor(d doctorJSON) {
	out := &c.out
	fmt.Fprintln(out, d.Version)
	for _, e := range d.Environment {
		fmt.Fprintf(out, "%s %s: %s\n", stateSign(app.AdapterState(e.State)), e.Name, present.Line(e.Detail))
	}
	for _, a := range d.Adapters {
		fmt.Fprintf(out, "\n%s %s: %s\n", stateSign(a.State), present.AgentName(a.Name), a.summary())
		for _, p := range a.Problems {
			fmt.Fprintf(out, "    problem   %s\n", present.Line(p))
		}
		for _, p := range a.LookedIn {
			what := ifelse(slices.Contains(a.Missing, p), "missing", "looked in")
			fmt.Fprintf(out, "    %-9s %s\n", what, c.home(present.Line(p)))
		}
		if len(a.Versions) > 0 {
			fmt.Fprintf(out, "    versions  %s\n", counts(a.Versions))
		}
		if text := a.Format.String(); text != "" {
			fmt.Fprintf(out, "    format    %s\n", text)
		}
		for _, reason := range slices.Sorted(maps.Keys(a.Skipped)) {
			fmt.Fprintf(out, "    skipped   %s: %d\n", present.Line(reason), a.Skipped[reason])
		}
	}
}

func (a *doctorAdapterJSON) summary() string {
	switch a.State {
	case app.Absent:
		return "not installed"
	case app.Failed:
		return fmt.Sprintf("not everything could be read; %s in %d ms", plural(a.Sessions, "session"), a.ElapsedMS)
	}
	return fmt.Sprintf("%s in %d ms", plural(a.Sessions, "session"), a.ElapsedMS)
}

func plural(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}

func stateSign(s app.AdapterState) string {
	switch s {
	case app.OK:
		return "+"
	case app.Absent:
		return "-"
	}
	return "x"
}

// counts lists versions, the most frequent first.
func counts(m map[string]int) string {
	keys := slices.SortedFunc(maps.Keys(m), func(a, b string) int {
		if m[a] != m[b] {
			return m[b] - m[a]
		}
		return strings.Compare(a, b)
	})
	var parts []string
	for i, k := range keys {
		if i == 10 {
			parts = append(parts, fmt.Sprintf("and %d more", len(keys)-i))
			break
		}
		name := present.Line(k)
		parts = append(parts, fmt.Sprintf("%s (%d)", ifelse(name == "", "unknown", name), m[k]))
	}
	return strings.Join(parts, ", ")
}
