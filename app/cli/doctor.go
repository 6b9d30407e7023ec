package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"rollcall/adapters"
	"rollcall/app"
	"rollcall/app/machine"
	"rollcall/app/owned/launch"
	"rollcall/app/present"
	"rollcall/app/store"
	"rollcall/bounded"
	"rollcall/proc"
)

// doctorJSON is the JSON document of doctor.
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

// doctorAdapterJSON is an adapter's entry of list, with the keys that doctor adds.
type doctorAdapterJSON struct {
	machine.AdapterJSON
	Problems []string       `json:"problems,omitempty"`
	Missing  []string       `json:"missing,omitempty"` // of looked_in
	Versions map[string]int `json:"versions,omitempty"`
	Format   app.Format     `json:"format,omitempty"` // recognised, partly or unrecognised
	Skipped  map[string]int `json:"skipped,omitempty"`
	Program  string         `json:"program,omitempty"` // path of the agent's program
	// What the sums of "rollcall usage" are made of.
	Answers        int            `json:"answers,omitempty"`
	Copies         int            `json:"copies,omitempty"`
	LeftOut        map[string]int `json:"left_out,omitempty"` // files, by reason
	LeftOutAnswers map[string]int `json:"left_out_answers,omitempty"`
}

type doctorCommand struct {
	*env
	asJSON, strict bool
	reports, full  bool
}

func newDoctor(e *env) *cobra.Command {
	c := &doctorCommand{env: e}
	return command(&cobra.Command{
		Use:   "doctor",
		Short: "Show what was looked at, what was found and what failed",
		Long: `Show for each agent where its sessions were looked for, how many were found, of
which versions, what could not be read and what to do about it. The line "ledger" says
of how many answers the sums of "rollcall usage" are made, how many copies of answers
count for the session in which they were given, and how many files count nowhere.

With --report it prints what an issue about a Mac or a Windows machine needs, and says
first what that is.`,
		Args: noArgs,
		RunE: func(*cobra.Command, []string) error {
			switch {
			case c.reports && c.asJSON:
				return usageError("--report has no JSON: use one of --report and --json")
			case c.full && !c.reports:
				return usageError("--full is a part of --report: use rollcall doctor --report --full")
			case c.reports:
				return c.report()
			}
			return c.run()
		},
	},
		withFlag(&c.reports, "report", "print what an issue about your system needs"),
		withFlag(&c.full, "full", "with --report: also command lines, and what each status rests on"),
		jsonFlag(&c.asJSON),
		strictFlag(&c.strict),
	)
}

func (c *doctorCommand) run() error {
	_, snap, err := c.refresh(app.All, false)
	if err != nil {
		return err
	}
	ledgers := c.ledgers(snap)
	d := doctorJSON{Schema: schema, At: timestamp(snap.At), Version: versionAsJSON(c.deps.Version),
		Environment: c.environment(), Adapters: []doctorAdapterJSON{}}
	failed := false
	for _, h := range slices.Concat(snap.Adapters, c.unseen(snap)) {
		failed = failed || h.State == app.Failed
		d.Adapters = append(d.Adapters, c.adapter(&h, ledgers[h.Name]))
	}
	if c.asJSON {
		err = c.json(d)
	} else {
		c.print(d)
	}
	if err == nil && failed && c.strict {
		return c.incomplete(nil)
	}
	return err
}

// adapter returns the finding about an agent.
func (c *doctorCommand) adapter(h *app.Health, ledger adapters.Ledger) doctorAdapterJSON {
	program, err := c.program(h.Name)
	a := doctorAdapterJSON{AdapterJSON: adapterAsJSON(h),
		Problems: h.Problems, Missing: missing(h.LookedIn), Versions: h.Versions, Format: h.Format, Skipped: h.Skipped, Program: program,
		Answers: ledger.Answers, Copies: ledger.Copies, LeftOut: ledger.LeftOut, LeftOutAnswers: ledger.LeftOutAnswers}
	d, _ := adapters.Describe(h.Name)
	if d.Unread && a.Format == app.Recognised {
		a.Format = ""
	}
	if d.Unread && d.Can.Launch && err != nil {
		a.Problems = append(slices.Clone(a.Problems), err.Error())
	}
	return a
}

// isUnread reports whether an agent is only seen: Rollcall does not read its files.
func isUnread(name adapters.Name) bool {
	d, _ := adapters.Describe(name)
	return d.Unread
}

// unseen returns the agents that are only seen, of which snap has nothing and whose programs are installed.
func (c *doctorCommand) unseen(snap *app.Snapshot) (out []app.Health) {
	list, _ := c.open()
	for _, a := range list {
		name := a.Name()
		if !isUnread(name) || slices.ContainsFunc(snap.Adapters, func(h app.Health) bool { return h.Name == name }) {
			continue
		}
		if _, err := c.program(name); err == nil {
			out = append(out, app.Health{Name: name, State: app.Absent})
		}
	}
	return out
}

// ledgers returns what the sums of "rollcall usage" are made of, for the agents that could be read. This can take reading every transcript.
func (c *doctorCommand) ledgers(snap *app.Snapshot) map[adapters.Name]adapters.Ledger {
	cfg, _ := c.config(app.All, true, "") // no error: no agent is named
	cfg.Usage, cfg.Limit = true, cmp.Or(cfg.Limit, wholeLimit)
	cfg.Adapters = slices.DeleteFunc(slices.Clone(cfg.Adapters), func(a adapters.Adapter) bool {
		return snap.Health(a.Name()).State != app.OK
	})
	ledgers := map[adapters.Name]adapters.Ledger{}
	for _, h := range app.Ask(c.ctx, cfg, app.Once{Last: true}).Adapters {
		ledgers[h.Name] = h.Ledger
	}
	return ledgers
}

// program returns the path of an agent's program. An error says that it is not found.
func (e *env) program(name adapters.Name) (string, error) {
	look := e.deps.LookPath
	if look == nil {
		look = launch.LookPath
	}
	list, _ := e.open()
	if l, ok := launch.Find(list, name).(adapters.Launcher); ok {
		return l.Program(look)
	}
	d, _ := adapters.Describe(name)
	return d.FindProgram(look)
}

// environment checks what every adapter depends on.
func (c *doctorCommand) environment() []checkJSON {
	agents, table := c.open()
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
			err = errors.New("no process is visible: is /proc mounted, and without the option hidepid?")
		}
		add("process table", err, fmt.Sprintf("%d processes", len(list)))
		found := findAgentProcesses(list, agents)
		for _, finding := range []func(proc.Lister) (checkJSON, bool){found.takeContained, found.othersCheck} {
			if check, ok := finding(table); ok {
				out = append(out, check)
			}
		}
	}
	path, err := store.SettingsPath()
	if err == nil {
		_, err = c.deps.Settings()
	}
	add("settings", err, path)
	set := c.settings()
	for _, line := range set.HomeProblems() {
		add("home", errors.New(line), "")
	}
	for _, finding := range []func() (checkJSON, bool){c.keeperCheck, c.cacheCheck, c.soundsCheck} {
		if check, ok := finding(); ok {
			out = append(out, check)
		}
	}
	if tree := c.getenv("HOST_PROC"); tree != "" {
		_, err := os.Stat(filepath.Join(tree, "stat"))
		add("HOST_PROC", err, "processes are read from "+tree)
	}
	if dir := c.getenv("HOST_ETC"); dir != "" {
		_, err := os.Stat(dir)
		add("HOST_ETC", err, "the machine's id is read from "+dir)
	}
	return out
}

// missing returns the places that do not exist.
func missing(places []string) []string {
	var out []string
	for _, p := range places {
		if !filepath.IsAbs(p) || !bounded.Answers(p) {
			continue
		}
		if _, err := os.Lstat(p); errors.Is(err, fs.ErrNotExist) {
			out = append(out, p)
		}
	}
	return out
}

func (c *doctorCommand) print(d doctorJSON) {
	c.printf("%s\n", d.Version)
	for _, e := range d.Environment {
		c.printf("%s %s: %s\n", stateSign(app.AdapterState(e.State)), e.Name, present.Line(e.Detail))
	}
	for _, a := range d.Adapters {
		c.printf("\n%s %s: %s\n", stateSign(a.State), present.AgentName(a.Name), a.summary())
		for _, p := range a.Problems {
			c.printf("    problem   %s\n", present.Line(p))
		}
		c.printIf(a.Program != "", "    program   %s\n", c.path(a.Program))
		for _, p := range a.LookedIn {
			what := ifelse(slices.Contains(a.Missing, p), "missing", "looked in")
			c.printf("    %-9s %s\n", what, c.path(p))
		}
		c.printIf(len(a.Versions) > 0, "    versions  %s\n", present.Counted(a.Versions, "%s (%s)", 60))
		c.printIf(a.ledger() != "", "    ledger    %s\n", a.ledger())
		c.printIf(a.Format.String() != "", "    format    %s\n", a.Format.String())
		for _, reason := range slices.Sorted(maps.Keys(a.Skipped)) {
			c.printf("    skipped   %s: %d\n", present.Line(reason), a.Skipped[reason])
		}
	}
}

// ledger returns what the sums of "rollcall usage" are made of; empty if there is nothing.
func (a *doctorAdapterJSON) ledger() string {
	var parts []string
	if a.Answers > 0 {
		parts = append(parts, plural(a.Answers, "answer"))
	}
	if a.Copies > 0 {
		parts = append(parts, plural(a.Copies, "copy")+" left out")
	}
	return strings.Join(append(parts, present.LeftOutFiles(a.LeftOut, a.LeftOutAnswers)...), ", ")
}

func (a *doctorAdapterJSON) summary() string {
	unread := isUnread(a.Name)
	switch a.State {
	case app.Absent:
		if a.Program != "" && unread {
			return "installed; its files are not read: it is seen while it runs"
		}
		if a.Program != "" {
			return "installed, never run"
		}
		if d, ok := adapters.Describe(a.Name); ok {
			return "not installed (install it: " + d.Install + ")"
		}
		return "not installed"
	case app.Failed:
		return fmt.Sprintf("not everything could be read; %s in %d ms", plural(a.Sessions, "session"), a.ElapsedMS)
	}
	return fmt.Sprintf("%s in %d ms", plural(a.Sessions, "session"), a.ElapsedMS) + ifelse(unread, "; its files are not read", "")
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

// soundsCheck returns doctor's finding about the sounds of notifications, if the settings have some.
func (c *doctorCommand) soundsCheck() (checkJSON, bool) {
	set := c.settings()
	check := checkJSON{Name: "sounds", State: string(app.OK), Detail: plural(len(set.Notifications.Sounds), "sound") + " of notifications"}
	if runtime.GOOS != "linux" {
		check.Detail += ": only Linux plays them"
		return check, len(set.Notifications.Sounds) > 0
	}
	home := cmp.Or(c.getenv("XDG_DATA_HOME"), filepath.Join(c.getenv("HOME"), ".local/share"))
	data := append(filepath.SplitList(cmp.Or(c.getenv("XDG_DATA_DIRS"), "/usr/local/share:/usr/share")), home)
	if problems := set.Notifications.SoundProblems(data); problems != nil {
		check.State, check.Detail = string(app.Failed), strings.Join(problems, "; ")
	}
	return check, len(set.Notifications.Sounds) > 0
}

// cacheCheck returns doctor's finding about the cache of what was parsed of agents' files.
func (c *doctorCommand) cacheCheck() (checkJSON, bool) {
	check := checkJSON{Name: "cache", State: string(app.OK)}
	path, err := store.FactsPath()
	set := c.settings()
	switch {
	case err != nil:
		check.Detail = "none: the folder for caches is not known"
		return check, true
	case !set.UsesCache():
		check.Detail = "off by the settings"
		return check, true
	}
	bytes, err := bounded.In(path, bounded.ReadLimit, func(context.Context) (int64, error) { return folderSize(path) })
	switch {
	case errors.Is(err, fs.ErrNotExist):
		check.Detail = path + ": empty"
	case err != nil:
		check.State, check.Detail = string(app.Failed), err.Error()
	default:
		check.Detail = path + ": " + size(bytes)
	}
	check.Detail = present.Line(check.Detail)
	return check, true
}

// folderSize returns the size of the files in a folder of the user's own.
func folderSize(path string) (bytes int64, err error) {
	dir, err := store.OpenDir(path)
	if err != nil {
		return 0, err
	}
	defer dir.Close()
	names, err := dir.Names()
	for _, name := range names {
		if info, err := dir.Lstat(filepath.Base(name)); err == nil {
			bytes += info.Size()
		}
	}
	return bytes, err
}
