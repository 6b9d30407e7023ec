package harness

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"time"

	"rollcall/adapters"
	"rollcall/internal/adaptertest/scene"
	"rollcall/internal/harness/screen"
	"rollcall/internal/must"
)

// witness tells what a session of a real agent does, from outside: by the model's server and by the agent's own screen. It knows no file of the agent
// and no rule of its adapter.
type witness interface {
	// asksModel reports whether the model's server has a request of the session that is not answered.
	asksModel(s *scene.Session) bool
	// hangsUp reports whether the agent has hung up on the model in a request of the session that began after a time.
	hangsUp(s *scene.Session, after time.Time) bool
	// screen returns what the session's terminal shows, and the signs of its release; nil: it has no terminal.
	screen(s *scene.Session) (text string, signs *screen.Signs)
}

// outside returns what the witnesses say that a session does, and why; "": nothing.
func (t *harness) outside(x *life) (state screen.State, why string) {
	w := t.witnesses[x.Session]
	if w == nil || x.IsSuspended() || x.Truth().Status == adapters.Stopped {
		return "", ""
	}
	text, signs := w.screen(x.Session)
	if signs != nil {
		if state, line := signs.Read(text); state != "" {
			return state, "its screen shows " + line
		}
	}
	if w.asksModel(x.Session) { // an agent may ask the model behind its turn, too
		return screen.Working, "the model's server has its request"
	}
	return "", ""
}

// gaveUp reports whether the agent of a session that works has given up a request to the model by itself since its last prompt, as each
// does when an answer takes minutes. It asks again, or its turn has failed: no witness tells which.
func (t *harness) gaveUp(x *life) bool {
	w := t.witnesses[x.Session]
	if w == nil || x.gaveUp || x.Truth().Status != adapters.Working || !w.hangsUp(x.Session, x.prompted) {
		return x.gaveUp
	}
	x.gaveUp = true
	t.gaveUps++
	t.script.note("%s has hung up on the model", x.project)
	return true
}

// mayHaveFailed reports whether a row may be right of a session whose agent gave up a request.
func (t *harness) mayHaveFailed(x *life, got, want scene.Truth) bool {
	if !t.gaveUp(x) {
		return false
	}
	state, _ := t.outside(x)
	return got.Status == want.Status || want.Status != adapters.Stopped && (got.Status == adapters.Unknown || state == "" && got.Status == adapters.Idle)
}

// truth returns what is true of a session: what the witnesses of a real agent say, else what was done. known reports whether the outcome is known, too.
func (t *harness) truth(x *life) (truth scene.Truth, known bool) {
	done := x.Truth()
	state, why := t.outside(x)
	switch state {
	case "":
		return done, true
	case screen.Working:
		truth.Status = adapters.Working
	case screen.Permission:
		truth = scene.Truth{Status: adapters.Waiting, WaitingFor: adapters.ForPermission}
	case screen.Question:
		truth = scene.Truth{Status: adapters.Waiting, WaitingFor: adapters.ForQuestion}
	case screen.Idle, screen.Plan:
		truth.Status = adapters.Idle
	}
	if truth.Status == done.Status && truth.WaitingFor == done.WaitingFor {
		return done, true
	}
	t.script.note("%s is %s after its last step, and %s", x.project, done, why)
	return truth, false
}

// sandboxPath is what differs between two runs on a screen.
var sandboxPath = regexp.MustCompile(`(/tmp/)?box-\d+`)

// picture keeps the screens of the sessions in the folder that ROLLCALL_HARNESS_PICTURES names: these are the pictures beside a release's signs.
func (t *harness) picture() {
	t.Helper()
	folder := os.Getenv("ROLLCALL_HARNESS_PICTURES")
	for _, x := range t.script.lives() {
		w, truth := t.witnesses[x.Session], x.Truth()
		if w == nil || x.IsSuspended() || truth.Status == adapters.Stopped {
			continue
		}
		text, _ := w.screen(x.Session)
		if text == "" {
			continue
		}
		name := string(truth.Status)
		if truth.WaitingFor != "" {
			name = string(truth.WaitingFor)
		}
		if state, _ := t.outside(x); state == screen.Plan {
			name = string(state)
		}
		dir := filepath.Join(folder, string(x.Agent))
		must.Do(t, os.MkdirAll(dir, 0o755))
		text = strings.ReplaceAll(sandboxPath.ReplaceAllString(text, ""), "/root", "/home/dev") + "\n"
		must.Do(t, os.WriteFile(filepath.Join(dir, name+".txt"), []byte(text), 0o644))
	}
}
