package agents

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// prepare makes the folders of the storm, has the agents trust them, and keeps
// the tmux server alive while terminals come and go.
func (st *storm) prepare() error {
	for _, folder := range st.folders() {
		if err := st.s.makeProject(folder); err != nil {
			return err
		}
	}
	script := "#!/bin/sh\nexec sleep " + longSleep + "\n"
	if err := os.WriteFile(st.longJob(), []byte(script), 0o755); err != nil {
		return err
	}
	if err := st.seedClaude(st.s.Home, filepath.Join(st.s.Home, ".claude")); err != nil {
		return err
	}
	if err := st.trustCodex(filepath.Join(st.s.Home, ".codex")); err != nil {
		return err
	}
	_, err := st.s.tryTmux("-f", "/dev/null", "new-session", "-d", "-s", "anchor", "cat")
	return err
}

// longJob is a command that runs for long: some agents refuse to run sleep itself.
func (st *storm) longJob() string { return filepath.Join(st.s.dir, "longjob") }

// seedClaude answers the questions of Claude Code's first start in all folders.
// The file of answers is beside its folder by default, and inside of another one.
func (st *storm) seedClaude(answers, folder string) error {
	projects := map[string]any{}
	for _, project := range st.folders() {
		projects[project] = map[string]any{"hasTrustDialogAccepted": true, "hasCompletedProjectOnboarding": true, "allowedTools": []string{}}
	}
	err := writeJSON(filepath.Join(answers, ".claude.json"), map[string]any{
		"hasCompletedOnboarding": true, "numStartups": 5, "theme": "dark", "fullscreenUpsellSeenCount": 3,
		"customApiKeyResponses": map[string]any{"approved": []string{mockKey[len(mockKey)-20:]}, "rejected": []string{}},
		"projects":              projects})
	if err != nil {
		return err
	}
	return writeJSON(filepath.Join(folder, "settings.json"),
		map[string]any{"permissions": map[string]any{"allow": []string{"Bash(" + st.longJob() + ")"}}})
}

// trustCodex has Codex trust all folders.
func (st *storm) trustCodex(home string) error {
	path := filepath.Join(home, "config.toml")
	config, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	var b strings.Builder
	b.Write(config)
	for _, folder := range st.folders() {
		fmt.Fprintf(&b, "\n[projects.%q]\ntrust_level = \"trusted\"\n", folder)
	}
	return os.WriteFile(path, []byte(b.String()), 0o600)
}

// ownHome makes a folder for an agent where it has none by default. It returns
// its value, as it is in the environment, and the environment's entry.
func (st *storm) ownHome(r Release, k *stormKind) (string, []string, error) {
	st.mu.Lock()
	st.homes++
	home := filepath.Join(st.s.dir, "homes", fmt.Sprintf("%s-%d", r.Agent, st.homes))
	st.mu.Unlock()
	var err error
	switch r.Agent {
	case ClaudeNewest.Agent:
		err = st.seedClaude(home, home)
	case CodexNewest.Agent:
		err = errors.Join(copyFile(filepath.Join(st.s.Home, ".codex", "config.toml"), filepath.Join(home, "config.toml")),
			linkPackages(filepath.Join(st.s.Home, ".codex", "packages"), filepath.Join(home, "packages")))
	case PiNewest.Agent:
		for _, name := range []string{"models.json", "settings.json"} {
			err = errors.Join(err, copyFile(filepath.Join(st.s.Home, ".pi", "agent", name), filepath.Join(home, name)))
		}
	default:
		err = os.MkdirAll(home, 0o755)
	}
	return home, []string{k.homeKey + "=" + home}, err
}

// linkPackages links the programs of Codex's daemon, which are there once a daemon ran.
func linkPackages(from, to string) error {
	if err := linkTree(from, to); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

func copyFile(from, to string) error {
	data, err := os.ReadFile(from)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(to), 0o755); err != nil {
		return err
	}
	return os.WriteFile(to, data, 0o600)
}

// environ is the value of a variable in a process's environment.
func environ(pid int, key string) string {
	data, _ := os.ReadFile(fmt.Sprintf("/proc/%d/environ", pid))
	for entry := range strings.SplitSeq(string(data), "\x00") {
		if value, ok := strings.CutPrefix(entry, key+"="); ok {
			return value
		}
	}
	return ""
}

// movedFolders are the agents' folders that are moved while the tray runs.
var movedFolders = map[string]string{ClaudeNewest.Agent: ".claude", PiNewest.Agent: ".pi",
	CodexNewest.Agent: ".codex", OpenCodeNewest.Agent: ".local/share/opencode"}

// moveFolders moves an agent's folder now and then: away and back, or for good
// with a link in its place. Meanwhile no agent that uses it writes.
func (st *storm) moveFolders(ctx context.Context) {
	rng := rand.New(rand.NewPCG(st.options.seed, 0))
	for pause(ctx, time.Duration(40+rng.IntN(60))*time.Second) {
		agent := pick(rng, ClaudeNewest.Agent, PiNewest.Agent) // the others have sockets and databases in theirs
		if err := st.moveFolder(agent, rng.IntN(2) == 0); err != nil {
			st.mu.Lock()
			st.troubles = append(st.troubles, fmt.Sprintf("%s move the folder of %s: %v", st.since(time.Now()), agent, err))
			st.mu.Unlock()
		}
	}
}

// moveFolder moves an agent's folder while the lanes of the agent hold still.
func (st *storm) moveFolder(agent string, back bool) error {
	lock := st.quiet[agent]
	lock.Lock()
	defer lock.Unlock()
	folder := filepath.Join(st.s.Home, movedFolders[agent])
	what := "moved, with a link in its place"
	if back {
		what = "moved away and back after 3 s"
	}
	fmt.Printf("storm: %s %s is %s\n", st.since(time.Now()), folder, what)
	settled := st.unsettle(agent, filepath.Base(folder)+" is "+what)
	defer st.settleAgain(settled)
	time.Sleep(2 * time.Second) // what the agents just did is written by then
	if agent == ClaudeNewest.Agent {
		_ = poll(15*time.Second, func() bool { return !st.startingClaude(folder) })
	}
	target, err := filepath.EvalSymlinks(folder)
	if err != nil {
		return err
	}
	st.mu.Lock()
	st.names++
	away := fmt.Sprintf("%s-moved%d", folder, st.names)
	st.mu.Unlock()
	if err := os.Rename(target, away); err != nil {
		return err
	}
	if !back {
		_ = os.Remove(folder) // a link, if it was moved before
		return os.Symlink(away, folder)
	}
	time.Sleep(3 * time.Second)
	if _, err := os.Lstat(target); err == nil {
		fmt.Printf("storm: %s %s wrote while its folder was away\n", st.since(time.Now()), agent)
		if err := os.Rename(target, away+"-meanwhile"); err != nil {
			return err
		}
	}
	return os.Rename(away, target)
}

// startingClaude reports whether a Claude Code has no entry in the registry yet, or one of a
// session that the storm doesn't know: a Claude Code that resumes a session registers another
// one first.
func (st *storm) startingClaude(folder string) bool {
	entries, _ := filepath.Glob(filepath.Join(folder, "sessions", "*.json"))
	for _, path := range entries {
		data, err := os.ReadFile(path)
		if err != nil {
			continue
		}
		var entry struct {
			SessionID string `json:"sessionId"`
		}
		if json.Unmarshal(data, &entry) != nil || !st.knows(entry.SessionID) {
			return true
		}
	}
	st.mu.Lock()
	defer st.mu.Unlock()
	return slices.ContainsFunc(st.sessions, func(x *stormSession) bool {
		return x.release.Agent == ClaudeNewest.Agent && x.running && x.home == "" && x.pid != 0 &&
			!slices.Contains(entries, filepath.Join(folder, "sessions", fmt.Sprint(x.pid)+".json"))
	})
}

// knows reports whether a session of the storm has that id.
func (st *storm) knows(id string) bool {
	st.mu.Lock()
	defer st.mu.Unlock()
	return slices.ContainsFunc(st.sessions, func(x *stormSession) bool { return x.id == id })
}

// settleAgain has sessions compared again, once they had time to settle.
func (st *storm) settleAgain(sessions []*stormSession) {
	st.mu.Lock()
	defer st.mu.Unlock()
	for _, x := range sessions {
		x.since = time.Now()
		x.version++
	}
}

// unsettle has nothing compared of the sessions in an agent's default folder; it
// returns those that were.
func (st *storm) unsettle(agent, why string) []*stormSession {
	st.mu.Lock()
	defer st.mu.Unlock()
	settled := slices.DeleteFunc(slices.Clone(st.sessions), func(x *stormSession) bool {
		return x.release.Agent != agent || x.home != "" || x.since.IsZero()
	})
	for _, x := range settled {
		x.since = time.Time{}
		x.version++
		x.steps = append(x.steps, stormStep{time.Now(), why})
	}
	return settled
}
