package agents

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"rollcall/internal/desktoptest"
	"rollcall/internal/pressure"
)

// What the user changes while agents run: which kinds of events are told, folders of which nothing is told, and "do not
// disturb". The tray must obey each change, and must tell what the settings allow.

// settingsSettle is the time after which a change of the settings must be obeyed; a busy machine gets up to settleMore on top.
const settingsSettle = 3 * time.Second

// restriction is a change of the settings that forbids some notifications, until the user takes it back.
type restriction struct {
	what    string
	config  string // further lines below [notifications]; empty: it is made by "rollcall dnd"
	forbids func(kind owedKind, place string) bool
	from    time.Time // the change begins
	obeyed  time.Time // from here on the tray must obey; zero: not known yet
	to      time.Time // the user begins to take it back; zero: not yet
	lifted  time.Time // from here on the tray must tell again; zero: not known yet
}

// eachEvent are the settings with which the tray tells of each event by itself and at once.
const eachEvent = "[notifications]\nreply = \"off\"\ntogether = \"0s\"\npause = \"0s\"\n"

// drawRestriction returns a change of the settings.
func (st *storm) drawRestriction(rng *rand.Rand) *restriction {
	only := func(kind owedKind) func(owedKind, string) bool {
		return func(k owedKind, _ string) bool { return k == kind }
	}
	switch rng.IntN(4) {
	case 0:
		return &restriction{what: "waits off", config: "permission = \"off\"\nquestion = \"off\"\n", forbids: only(waitKind)}
	case 1:
		return &restriction{what: "ends off", config: "ended = \"off\"\nfailed = \"off\"\nlimit = \"off\"\n", forbids: only(endedKind)}
	case 2:
		return &restriction{what: "do not disturb", forbids: func(owedKind, string) bool { return true }}
	}
	folders := st.folders()
	folder := folders[rng.IntN(len(folders))]
	return &restriction{what: "mute " + folder, config: fmt.Sprintf("mute = [%q]\n", folder),
		forbids: func(_ owedKind, place string) bool { return place == filepath.Base(folder) }}
}

// changeSettings changes the settings again and again, and takes each change back, until ctx is done.
func (st *storm) changeSettings(ctx context.Context) error {
	rng := rand.New(rand.NewPCG(st.options.seed, 1<<32))
	for pause(ctx, time.Duration(15+rng.IntN(20))*time.Second) {
		r := st.drawRestriction(rng)
		st.mu.Lock()
		r.from = time.Now()
		st.restrictions = append(st.restrictions, r)
		st.counts()
		st.mu.Unlock()
		if err := st.apply(ctx, r, true); err != nil {
			return err
		}
		st.settled(&r.obeyed, time.Now())
		pause(ctx, time.Duration(20+rng.IntN(30))*time.Second)
		st.mu.Lock()
		r.to = time.Now()
		st.counts()
		st.mu.Unlock()
		if err := st.apply(context.WithoutCancel(ctx), r, false); err != nil {
			return err
		}
		st.settled(&r.lifted, time.Now())
	}
	return nil
}

// settled sets at to the moment from which a change made now must be obeyed, while the pressure of that time is known.
func (st *storm) settled(at *time.Time, now time.Time) {
	time.AfterFunc(settingsSettle+settleMore, func() {
		st.mu.Lock()
		defer st.mu.Unlock()
		*at = now.Add(settingsSettle + min(pressure.StalledSince(now), settleMore))
	})
}

// apply makes a change of the settings, or takes it back, as the user does: by a command, or in the file.
func (st *storm) apply(ctx context.Context, r *restriction, on bool) error {
	if r.config == "" {
		args := []string{"dnd", "off"}
		if on {
			args = []string{"dnd", "on", "--for", "1h"}
		}
		cmd := exec.CommandContext(ctx, headlessBinary, args...)
		cmd.Dir, cmd.Env = st.s.Home, trayEnv(st.s, st.desktop)
		if out, err := cmd.CombinedOutput(); err != nil {
			return fmt.Errorf("rollcall %s: %w: %s", strings.Join(args, " "), err, out)
		}
		return nil
	}
	text := eachEvent
	if on {
		text += r.config
	}
	return writeSettings(st.desktop.Home(), text)
}

// writeSettings replaces the settings of a home, as an editor does.
func writeSettings(home, text string) error {
	dir := filepath.Join(home, ".config", "rollcall")
	path := filepath.Join(dir, "config.toml")
	return errors.Join(os.MkdirAll(dir, 0o700), os.WriteFile(path+".new", []byte(text), 0o600), os.Rename(path+".new", path))
}

// forbidden returns the restriction that forbade what was told; nil if none did.
func (st *storm) forbidden(t *telling, place string) *restriction {
	for _, r := range st.restrictions {
		if !r.obeyed.IsZero() && t.at.After(r.obeyed) && (r.to.IsZero() || t.at.Before(r.to)) && r.forbids(t.kind, place) {
			return r
		}
	}
	return nil
}

// restricted reports whether a restriction was in force, or changed, while something had to be told.
func (st *storm) restricted(o *owed) bool {
	for _, r := range st.restrictions {
		over := r.lifted.IsZero() || o.from.Before(r.lifted)
		if r.forbids(o.kind, filepath.Base(o.x.folder)) && over && o.at.Add(o.window+settleMore).After(r.from) {
			return true
		}
	}
	return false
}

// release makes optional what the settings forbade to tell, and what was due while they changed.
func (st *storm) release() {
	for _, o := range st.owed {
		if st.restricted(o) {
			o.optional = "the settings forbade it, or changed"
			o.window = time.Hour // a wait may be told when the user may be disturbed again
		}
	}
}

// unwanted returns how many notifications were shown although the settings forbade them.
func (st *storm) unwanted(told []telling) (n int) {
	for i := range told {
		t := &told[i]
		place := t.place
		if x := st.sessionOf(t); x != nil {
			place = filepath.Base(x.folder)
		}
		if r := st.forbidden(t, place); r != nil {
			n++
			fmt.Printf("storm: WRONG %s: told despite %q of %s: %q\n", st.since(t.at), r.what, st.since(r.from), t.text)
		}
	}
	return n
}

// trayEnv returns the environment of the tray. OpenCode's data are below HOME.
func trayEnv(s *Sandbox, desktop *desktoptest.Desktop) []string {
	return append(desktop.Env(), "HOME="+s.Home, "ROLLCALL_SANDBOX="+s.dir, "XDG_DATA_HOME=")
}
