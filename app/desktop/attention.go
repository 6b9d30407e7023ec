//go:build !headless

package desktop

import (
	"context"
	"fmt"
	"log/slog"
	"maps"
	"os"
	"reflect"
	"slices"
	"strings"
	"sync"
	"time"

	"rollcall/app"
	"rollcall/app/control/focus"
	"rollcall/app/owned/script"
	"rollcall/app/owned/webhook"
	"rollcall/app/present"
	"rollcall/app/settings"
	"rollcall/app/store"
	"rollcall/app/store/quiet"
	"rollcall/notify"
	"rollcall/proc"
)

// attention decides for the tray when and how the user is notified. It is safe for concurrent use.
type attention struct {
	current func() settings.Settings
	quiet   *quiet.Quiet
	desktop *notify.DesktopQuiet
	finder  *focus.Finder
	log     *slog.Logger
	told    app.Wakeup // for the notifier: rules or state have changed
	redraw  app.Wakeup // for the tray

	mu    sync.Mutex
	state quiet.State
	rules notify.Rules
	away  settings.Notifications
	hook  settings.Webhook

	acted map[string]act // what the user did to sessions, by their ids

	slots chan struct{} // has an entry for each callAway that runs
}

// newAttention returns an attention for the tray.
func (p *parts) newAttention() *attention {
	a := &attention{current: p.settings, quiet: p.quiet, log: p.log, desktop: notify.NewDesktopQuiet(""), told: app.NewWakeup(), redraw: app.NewWakeup(),
		slots: make(chan struct{}, awayAtOnce), acted: map[string]act{}, finder: focus.New(proc.Open(), focus.Here())}
	a.readSettings()
	a.readQuiet()
	return a
}

// follow keeps settings and do not disturb current until ctx is done. changes receives when the settings have changed.
func (a *attention) follow(ctx context.Context, changes <-chan struct{}) {
	dnd, err := a.quiet.Changes(ctx)
	if err != nil {
		a.log.Warn("changes of do not disturb are noticed late", "error", err)
	}
	a.readQuiet() // the state may have changed before the watch began
	for {
		select {
		case <-ctx.Done():
			return
		case <-changes:
			a.readSettings()
		case <-dnd:
			a.readQuiet()
		case <-a.ending():
			a.readQuiet()
		}
		a.rereadRules()
	}
}

// ending returns a channel that receives when do not disturb ends by itself, and at least once a minute: timers do
// not run while the machine is suspended.
func (a *attention) ending() <-chan time.Time {
	state := a.get()
	if !state.Active(time.Now()) || state.Until.IsZero() {
		return nil
	}
	return time.After(min(time.Until(state.Until)+time.Millisecond, time.Minute))
}

// rereadRules makes the tray and the notifier read the rules and the state again.
func (a *attention) rereadRules() {
	a.told.Set()
	a.redraw.Set()
}

func (a *attention) readSettings() {
	set := a.current()
	n := set.Notifications
	rules := notify.Rules{
		Kinds:       map[notify.Kind]notify.Manner{},
		ReplyAfter:  n.ReplyAfter.Or(settings.DefaultReplyAfter),
		Together:    n.Together.Or(settings.DefaultTogether),
		Pause:       n.Pause.Or(settings.DefaultPause),
		RemindAfter: n.RemindAfter.Or(0),
		AwayAfter:   -1,
		Muted:       n.IsMuted,
		Sounds:      n.SoundFiles(),
		Headless:    app.Headless(set.Headless),
	}
	if n.OnWait != "" || n.OnWaitWebhook {
		rules.AwayAfter = n.OnWaitAfter.Or(settings.DefaultOnWaitAfter)
	}
	for name, m := range n.Manners() {
		switch *m {
		case settings.Off:
			rules.Kinds[notify.Kind(name)] = notify.Off
		case settings.WithSound:
			rules.Kinds[notify.Kind(name)] = notify.WithSound
		case settings.WhenNothingRuns:
			rules.Kinds[notify.Kind(name)] = notify.WhenNothingRuns
		}
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	a.rules = rules
	a.away = n
	a.hook = set.Webhook
}

func (a *attention) readQuiet() {
	state, err := a.quiet.Get()
	if err != nil {
		a.log.Warn("notifications are shown", "error", err)
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	a.state = state
}

func (a *attention) get() quiet.State {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.state
}

// currentRules implements notify.Options.Rules.
func (a *attention) currentRules() notify.Rules {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.rules
}

// isQuiet implements notify.Options.Quiet and tray.Options.Quiet.
func (a *attention) isQuiet() (bool, time.Time) {
	state := a.get()
	return state.Active(time.Now()), state.Until
}

// setQuiet implements tray.Options.SetQuiet.
func (a *attention) setQuiet(on bool, until time.Time) {
	var err error
	if on {
		_, err = a.quiet.On(time.Now(), until)
	} else {
		err = a.quiet.Off()
	}
	if err != nil {
		a.log.Error("do not disturb could not be changed", "error", err)
	}
	a.readQuiet()
	a.rereadRules()
}

// ownAct is the time after an act of the user for which what it ended is not told: a stop takes so long at most.
const ownAct = 20 * time.Second

// act is what the user did to a session: ended it, or its turn.
type act struct {
	at      time.Time
	process proc.Identity // that had the session then; zero: not seen yet
}

// acts records that the user is about to end a session, or its turn.
func (a *attention) acts(session string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	maps.DeleteFunc(a.acted, func(_ string, done act) bool { return time.Since(done.at) > ownAct })
	a.acted[session] = act{at: time.Now()}
}

// hasActed implements notify.Options.Acted. An act counts for one process: how a session ends that was resumed since is told.
func (a *attention) hasActed(s *app.Session) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	done, ok := a.acted[s.ID]
	if !ok || time.Since(done.at) > ownAct {
		return false
	}
	if done.process.IsZero() {
		done.process = s.Process
		a.acted[s.ID] = done
	}
	return done.process == s.Process
}

// hasFocus implements notify.Options.HasFocus.
func (a *attention) hasFocus(ctx context.Context, s *app.Session) bool {
	a.mu.Lock()
	always := a.away.WhenFocused
	a.mu.Unlock()
	if always || s.Unattended || s.Shared || s.Process.IsZero() { // a daemon is in no terminal
		return false
	}
	return a.finder.HasFocus(ctx, s.Process) == focus.Focused
}

// remember stores in which window or terminal the processes of a snapshot run on this machine. hasFocus needs that after a process has ended.
func (a *attention) remember(snap *app.Snapshot) {
	var ids []proc.Identity
	for i := range snap.Own {
		if s := &snap.Own[i]; s.Live() && !s.Process.IsZero() && !s.Shared {
			ids = append(ids, s.Process)
		}
	}
	a.finder.Remember(ids)
}

const (
	awayLimit   = time.Minute // for on_wait
	awayAtOnce  = 8           // sessions for which on_wait or the webhook is called at the same time
	summaryCell = 200
)

// callAway runs the user's command and calls the webhook for a session that has waited for a long time.
func (a *attention) callAway(ctx context.Context, s app.Session) {
	select {
	case a.slots <- struct{}{}:
		defer func() { <-a.slots }()
	default:
		a.log.Warn("on_wait was not run: too many of its commands run already", "session", s.ID)
		return
	}
	a.mu.Lock()
	set, hook := a.away, a.hook
	a.mu.Unlock()
	if set.OnWaitWebhook && hook.URL != "" {
		p := webhook.WaitingMessage(&s, time.Now())
		if err := webhook.SendWaiting(ctx, webhook.Target{URL: hook.URL, Secret: hook.Secret}, &p); err != nil && ctx.Err() == nil {
			a.log.Warn("webhook message not sent", "session", s.ID, "error", err)
		}
	}
	if set.OnWait == "" {
		return
	}
	own, err := stateFolder()
	if err != nil {
		a.log.Warn("on_wait was not run: Rollcall's folder can't be used", "session", s.ID, "error", err)
		return
	}
	result, output := script.Run(ctx, set.OnWait, own, awayEnv(&s), awayLimit)
	if result != script.Succeeded {
		a.log.Warn("on_wait failed", "session", s.ID, "result", result, "output", strings.TrimSpace(output))
	}
}

// stateFolder returns the folder in which Rollcall keeps its files, and creates it where it is missing.
func stateFolder() (string, error) {
	path, err := store.StatePath()
	if err != nil {
		return "", err
	}
	dir, err := store.MakeDir(path)
	if err != nil {
		return "", err
	}
	dir.Close()
	return path, nil
}

func awayEnv(s *app.Session) []string {
	folder := s.CWD
	if !s.HasLocalFolder() {
		folder = ""
	}
	return proc.ChildEnv(os.Environ(), []string{settings.WebhookSecret}, map[string]string{
		"ROLLCALL_SESSION":     s.ID,
		"ROLLCALL_AGENT":       string(s.Agent),
		"ROLLCALL_CWD":         folder,
		"ROLLCALL_WAITING_FOR": string(s.WaitingFor),
		"ROLLCALL_SUMMARY":     present.Cut(present.Line(present.Topic(s.Topic)), summaryCell),
	})
}

// troubles collects the troubles that the tray and the window show, by their source.
type troubles struct {
	show func([]string)

	mu     sync.Mutex
	parts  [3][]string
	joined string
}

// The sources of troubles.
const (
	ofSettings = iota
	ofKeeper
	ofMachines
)

// set replaces the troubles of one part.
func (t *troubles) set(part int, list []string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.parts[part] = list
	all := slices.Concat(t.parts[:]...)
	if joined := fmt.Sprint(len(all), strings.Join(all, "\n")); joined != t.joined {
		t.joined = joined
		t.show(all)
	}
}

// applySettings shows what is wrong with the settings, and leaves out the agents that they name.
func (p *parts) applySettings() {
	set, err := p.deps.Settings()
	p.core.LeaveOut(set.LeftOutAgents)
	p.core.SetHeadless(app.Headless(set.Headless))
	if err == nil {
		p.troubles.set(ofSettings, nil)
		return
	}
	text := strings.ReplaceAll(err.Error(), p.live.Path()+":", "config.toml:")
	p.troubles.set(ofSettings, strings.Split(strings.ReplaceAll(text, "settings: config.toml: ", "config.toml: "), "\n"))
}

// followSettings calls applySettings at each change of the settings, until ctx is done. It asks the agents again if their home folders
// have changed.
func (p *parts) followSettings(ctx context.Context) {
	changes := p.live.Changes()
	p.applySettings() // the settings may have changed since they were read
	before, _ := p.live.Get()
	for {
		select {
		case <-ctx.Done():
			return
		case <-changes:
		}
		p.applySettings()
		now, _ := p.live.Get()
		if !reflect.DeepEqual(before.Homes, now.Homes) {
			p.core.Refresh(ctx)
		}
		before = now
	}
}
