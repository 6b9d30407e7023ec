package harness

import (
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"time"

	"golang.org/x/sys/unix"

	"rollcall/adapters"
	"rollcall/internal/agentname"
	"rollcall/internal/must"
)

// damage is done to something, and mended later. The agents whose stores it
// concerns take no step meanwhile.
type damage struct {
	name   string
	agents []adapters.Name
	begin  func()
	end    func()
}

// anyDamage picks one; nil: there is nothing to damage.
func (t *harness) anyDamage() *damage {
	kinds := []func() *damage{t.fullDisk, t.noPanel, t.noService, t.noBus, t.killed, t.settings}
	if !t.real {
		kinds = append(kinds, t.unreadable, t.renamed, t.truncated, t.fifo, t.entryTruncated)
	}
	return kinds[t.script.rng.IntN(len(kinds))]()
}

// stores are the folders and files of each store. Pi and pi_agent_rust share one.
func (t *harness) store() (path string, agents []adapters.Name) {
	w := t.script.world
	all := []struct {
		path   string
		agents []adapters.Name
	}{
		{w.Path(".claude", "sessions"), []adapters.Name{agentname.ClaudeCode}},
		{w.Path(".claude", "projects"), []adapters.Name{agentname.ClaudeCode}},
		{w.Path(".claude"), []adapters.Name{agentname.ClaudeCode}},
		{w.Path(".codex", "sessions"), []adapters.Name{agentname.Codex}},
		{w.Path(".codex", "sessions", time.Now().Format("2006/01/02")), []adapters.Name{agentname.Codex}},
		{w.Path(".local", "share", "opencode"), []adapters.Name{agentname.OpenCode}},
		{w.Path(".openclaw"), []adapters.Name{agentname.OpenClaw}},
		{w.Path(".pi", "agent", "sessions"), []adapters.Name{agentname.Pi, agentname.PiRust}},
		{w.Path(".pi"), []adapters.Name{agentname.Pi, agentname.PiRust}},
	}
	one := all[t.script.rng.IntN(len(all))]
	if _, err := os.Stat(one.path); err != nil {
		return "", nil
	}
	return one.path, one.agents
}

func (t *harness) unreadable() *damage {
	path, agents := t.store()
	if path == "" {
		return nil
	}
	info := must.Get(os.Stat(path))(t)
	return &damage{"mode 000 of " + path, agents, func() { must.Do(t, os.Chmod(path, 0)) }, func() { must.Do(t, os.Chmod(path, info.Mode())) }}
}

func (t *harness) renamed() *damage {
	path, agents := t.store()
	if path == "" {
		return nil
	}
	return &damage{"renamed " + path, agents, func() { must.Do(t, os.Rename(path, path+".away")) }, func() { must.Do(t, os.Rename(path+".away", path)) }}
}

// file returns the file of a session whose agent has one for each.
func (t *harness) file() (path string, agents []adapters.Name) {
	name := []adapters.Name{agentname.ClaudeCode, agentname.Codex, agentname.Pi, agentname.PiRust}[t.script.rng.IntN(4)]
	troop := t.script.troop(name)
	if len(troop.live) == 0 {
		return "", nil
	}
	agents = []adapters.Name{name}
	if name == agentname.Pi || name == agentname.PiRust {
		agents = []adapters.Name{agentname.Pi, agentname.PiRust}
	}
	return troop.live[t.script.rng.IntN(len(troop.live))].File, agents
}

func (t *harness) truncated() *damage { return t.truncate(t.file()) }

// entryTruncated cuts an entry of Claude Code's registry.
func (t *harness) entryTruncated() *damage {
	troop := t.script.troop(agentname.ClaudeCode)
	if len(troop.live) == 0 {
		return nil
	}
	x := troop.live[t.script.rng.IntN(len(troop.live))]
	return t.truncate(t.script.world.Path(".claude", "sessions", strconv.Itoa(x.Process.PID)+".json"), []adapters.Name{agentname.ClaudeCode})
}

func (t *harness) truncate(path string, agents []adapters.Name) *damage {
	if path == "" {
		return nil
	}
	text := must.Get(os.ReadFile(path))(t)
	return &damage{"truncated " + path, agents,
		func() { must.Do(t, os.Truncate(path, int64(t.script.rng.IntN(len(text))))) },
		func() { // in place: who holds it open writes on
			f := must.Get(os.OpenFile(path, os.O_WRONLY|os.O_TRUNC, 0))(t)
			defer f.Close()
			must.Get(f.Write(text))(t)
		}}
}

func (t *harness) fifo() *damage {
	path, agents := t.file()
	if path == "" {
		return nil
	}
	away := filepath.Join(t.script.world.Home, "away.jsonl")
	return &damage{"a FIFO in the place of " + path, agents,
		func() {
			must.Do(t, os.Rename(path, away))
			must.Do(t, unix.Mkfifo(path, 0o600))
		},
		func() { must.Do(t, os.Rename(away, path)) }}
}

func (t *harness) fullDisk() *damage {
	return &damage{"full disk for Rollcall's state", nil,
		func() { t.rollcall.fill(); t.diskFull = true },
		func() { t.rollcall.room(); t.diskFull = false }}
}

// noPanel kills the panel, and starts it again.
func (t *harness) noPanel() *damage {
	return &damage{"no panel", nil,
		func() { t.desktop.killPanel(); t.desktop.startPanel() }, func() {}}
}

// noService kills the notification service. What is to be told waits for it.
func (t *harness) noService() *damage {
	return &damage{"no notification service", nil, func() {
		t.hear()
		for _, x := range t.script.lives() {
			if slices.ContainsFunc(x.shown, t.desktop.onScreen) {
				x.waits.may++ // the next service shows it again
			}
		}
		t.desktop.killService()
	}, t.desktop.startService}
}

// noBus kills the bus, with which the tray ends; the session's manager starts both.
func (t *harness) noBus() *damage {
	return &damage{"no D-Bus", nil,
		func() {
			t.trayGoes(true)
			t.desktop.killBus()
			t.rollcall.trayEnds()
		},
		func() {
			t.desktop.startBus()
			t.trayComes()
		}}
}

func (t *harness) killed() *damage {
	return &damage{"Rollcall killed", nil, func() { t.trayGoes(false); t.rollcall.killTray() }, t.trayComes}
}

// trayGoes books what the end of the tray means for what is owed: only the ends
// of launches are told later.
func (t *harness) trayGoes(screenGoes bool) {
	t.hear()
	t.trayUp, t.trayReady = false, time.Time{}
	for _, x := range append(t.script.lives(), t.forgotten...) {
		x.seen = false
		if !x.asked.IsZero() && (screenGoes || time.Since(x.asked) < time.Minute) {
			x.waits.may++ // it may have been told the moment before, and not written down
		}
		if x.hook == "" {
			x.ends.due = min(x.ends.due, x.ends.told)
		} else if time.Since(x.endedAt) < time.Minute {
			x.ends.may++
		}
	}
}

func (t *harness) trayComes() {
	t.rollcall.startTray()
	t.trayUp = true
}
