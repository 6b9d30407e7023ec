package focus

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"time"
)

// scriptLimit is how long AppleScript may take: macOS asks the user once whether Rollcall may control a terminal.
const scriptLimit = 30 * time.Second

// raiseByScript adds the step that shows the tab of a place in its terminal, or raises its application. It reports whether there
// is one.
func (r *request) raiseByScript(_ context.Context, p *Place) bool {
	terminal, err := r.table.Terminal(p.Process)
	if err != nil || terminal == "" {
		return false
	}
	home, _ := os.UserHomeDir()
	bundle := ""
	for _, id := range p.Ancestors {
		if exe, err := r.table.Exe(id); err == nil {
			if folder := bundleOf(exe, home); folder != "" {
				bundle = folder // the outermost one has the windows
			}
		}
	}
	if bundle == "" {
		return false
	}
	r.plan.Seen = true
	if s, ok := scriptFor(bundle); ok {
		r.add(TabStep, "select the tab of "+s.title+" on "+terminal, func(ctx context.Context) error {
			return runScript(ctx, s, terminal, r.folder)
		})
		r.plan.Steps[len(r.plan.Steps)-1].limit = scriptLimit
		return true
	}
	r.plan.Note = "its window or tab can't be chosen in this application"
	r.add(WindowStep, "raise "+printable(bundle), func(ctx context.Context) error {
		_, err := run(ctx, nil, "open", "-a", bundle)
		return err
	})
	return true
}

func runScript(ctx context.Context, s appleScript, terminal, folder string) error {
	out, err := runFor(ctx, scriptLimit, nil, "osascript", s.arguments(terminal, folder)...)
	switch {
	case err != nil && strings.Contains(err.Error(), "-1743"):
		return fmt.Errorf("macOS does not let Rollcall control %s: allow it in System Settings, Privacy & Security, Automation", s.title)
	case err != nil:
		return err
	case strings.TrimSpace(string(out)) != scriptShown:
		return errors.New(s.title + " has no tab with this terminal")
	}
	return nil
}
