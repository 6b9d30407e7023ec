package cli

import (
	"cmp"
	"html"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/spf13/cobra"

	"rollcall/app"
	"rollcall/app/self/executable"
	"rollcall/assets"
	"rollcall/tray/model"
)

// barFormats are the bars that rollcall bar prints for, each with what turns a menu into one line, or several.
var barFormats = map[string]func(*barCommand, *model.Menu) error{
	"waybar": (*barCommand).waybar, "i3blocks": (*barCommand).i3blocks, "polybar": (*barCommand).polybar, "xbar": (*barCommand).xbar, "plain": (*barCommand).plain,
}

func barNames() []string { return slices.Sorted(maps.Keys(barFormats)) }

type barCommand struct {
	*env
	format string
	once   bool
}

func newBar(e *env) *cobra.Command {
	c := &barCommand{env: e, format: "plain"}
	return command(&cobra.Command{
		Use:   "bar",
		Short: "Print for a desktop's bar who works and who waits for you, and keep it current",
		Long: `Print one line for a bar such as Waybar, Polybar or i3blocks: how many sessions wait
for you, work, are unknown and idle, as the tray's icon and menu have them. A new line
follows whenever that changes. It prints nothing but a blank for a bar while no agent is at work,
and ⚠ where the sessions of an agent can't be read.

docs/commands.md has recipes for Waybar, i3, sway, Hyprland, Polybar, xbar and SwiftBar.`,
		Args: noArgs,
		RunE: withoutArgs(c.run),
	},
		withFlag(&c.format, "format", "the bar: `"+strings.Join(barNames(), "|")+"`"),
		withFlag(&c.once, "once", "print the present state and end, as xbar always does"),
	)
}

// barPause is the shortest time between two lines.
const barPause = time.Second

func (c *barCommand) run() error {
	if barFormats[c.format] == nil {
		return usageError("--format must be one of %s, not %q", strings.Join(barNames(), ", "), c.format)
	}
	if c.once || c.format == "xbar" {
		_, snap, err := c.refreshShown()
		if err != nil {
			return err
		}
		_, err = c.printNew(snap.WithMachines(c.machines().Ask(c.ctx, 0, machineLimit)), "")
		return err
	}
	return c.follow()
}

// follow prints a line for each change until the bar is gone.
func (c *barCommand) follow() error {
	core, closeWatcher, err := (&watchCommand{env: c.env}).runningCore()
	if err != nil {
		return err
	}
	defer closeWatcher()
	core.LeaveOut(c.leftOut(""))
	changed := app.NewWakeup()
	defer core.Subscribe(func(*app.Snapshot) { changed.Set() })()
	var running sync.WaitGroup
	defer running.Wait()
	ctx := readerGone(c.ctx, c.streams.Out)
	running.Go(func() { _ = core.Run(ctx) })
	running.Go(func() { c.machines().Run(ctx, 0, core) })
	last := ""
	ages := time.NewTicker(time.Minute) // those in the tooltip go on while nothing else changes
	defer ages.Stop()
	for {
		select {
		case <-ctx.Done():
			return c.ctx.Err()
		case <-changed:
		case <-ages.C:
		}
		last, err = c.printNew(core.Snapshot(), last)
		if err != nil {
			return ignoreReaderGone(err)
		}
		select {
		case <-ctx.Done():
		case <-time.After(barPause):
		}
	}
}

// printNew prints the bar's line, unless it is the last one.
func (c *barCommand) printNew(snap *app.Snapshot, last string) (line string, err error) {
	menu := model.Build(snap, nil, time.Now())
	if err := barFormats[c.format](c, &menu); err != nil {
		return last, err
	}
	line = c.out.String()
	if line == last {
		c.out.Reset()
		return last, nil
	}
	return line, c.write()
}

// barText returns the text of a bar's part: the numbers, and a sign where sessions are not known, since bars hide a part without a text. Empty: no agent is at work.
func barText(m *model.Menu) string {
	if m.Icon == assets.Trouble {
		return strings.TrimSpace(m.Marks + " ⚠")
	}
	return m.Marks
}

// waybar prints a document of Waybar's custom modules (0.9 and later): the text and the tooltip are Pango markup.
func (c *barCommand) waybar(m *model.Menu) error {
	return c.encode(struct {
		Text    string `json:"text"`
		Alt     string `json:"alt"`
		Tooltip string `json:"tooltip"`
		Class   string `json:"class"`
	}{html.EscapeString(barText(m)), m.Icon.String(), html.EscapeString(strings.Join(each(m.Rows, func(r *model.Row) string { return r.Label() }), "\n")), m.Icon.String()}, false)
}

// i3blocks prints a document of i3's bar protocol, which i3blocks takes with format=json.
func (c *barCommand) i3blocks(m *model.Menu) error {
	return c.encode(struct {
		Full   string `json:"full_text"`
		Short  string `json:"short_text"`
		Color  string `json:"color,omitempty"`
		Urgent bool   `json:"urgent"`
	}{barText(m), barText(m), barColors[m.Icon], m.Icon == assets.NeedsYou}, false)
}

// barColors are the colours for states that need the user. Other states have the bar's own.
var barColors = map[assets.State]string{assets.NeedsYou: "#e5a50a", assets.Trouble: "#e66100"}

// polybar prints a text with Polybar's format tags. Nothing in it is of an agent.
func (c *barCommand) polybar(m *model.Menu) error {
	text := barText(m)
	if color := barColors[m.Icon]; color != "" && text != "" {
		text = "%{F" + color + "}" + text + "%{F-}"
	}
	c.printf("%s\n", text)
	return nil
}

// xbar prints what xbar and SwiftBar show: the title, a line, and the rows of the menu, of which a click shows the session's terminal.
func (c *barCommand) xbar(m *model.Menu) error {
	self, err := executable.Path()
	if err != nil {
		return err
	}
	c.printf("%s\n---\n", cmp.Or(barText(m), "○"))
	for _, r := range m.Rows {
		c.printf("%s", strings.ReplaceAll(r.Label(), "|", "¦"))
		if r.Session != "" {
			c.printf(" | bash=%q param1=focus param2=%q terminal=false", self, r.Session)
		}
		c.printf("\n")
	}
	return nil
}

// plain prints the numbers in words.
func (c *barCommand) plain(m *model.Menu) error {
	c.printf("%s\n", strings.TrimPrefix(m.Tooltip, "Rollcall: "))
	return nil
}
