package answer

import (
	"path/filepath"
	"slices"

	"rollcall/adapters"
	"rollcall/app"
	"rollcall/app/control/reading"
	"rollcall/app/settings"
	"rollcall/proc"
)

// OneKeyRule says in one sentence what one key allows.
const OneKeyRule = "one key allows only reading files of the session's folder, and commands that you entered for that folder; all else takes a second key"

// OneKeyMeaning says what it means to enter a command.
const OneKeyMeaning = "An entered command runs whatever it does: a build or test runs what the agent wrote."

// isOneKey reports whether a single key may allow a request of a session. The folder of another machine or of a container can't be looked at.
func (a *Answers) isOneKey(r *adapters.Request, s *app.Session) bool {
	if s.Machine != "" || !s.HasLocalFolder() || isOfProgram(s) {
		return false
	}
	return a.isEntered(r, s) || reading.Is(r, reading.Place{Folder: s.CWD, Env: a.Environment(s)})
}

// isOfProgram reports whether a program of the user's speaks for the agent of a session: what such a program says a request does is never enough for one key,
// nor for an answer to a question.
func isOfProgram(s *app.Session) bool {
	d, known := adapters.Describe(s.Agent)
	return known && d.Unread
}

// isEntered reports whether the user entered the text of a command for the folder of the session, in which it runs.
func (a *Answers) isEntered(r *adapters.Request, s *app.Session) bool {
	isThis := func(o settings.OneKey) bool { return o.Command == r.Text && o.In(s.CWD) }
	return a.OneKey != nil && canEnter(r, s) && slices.ContainsFunc(a.OneKey(), isThis)
}

// canEnter reports whether the text of a request is all that it does: it is a command, in the session's folder.
func canEnter(r *adapters.Request, s *app.Session) bool {
	inFolder := r.Folder == "" || filepath.Clean(r.Folder) == filepath.Clean(s.CWD)
	return inFolder && r.Kind == adapters.AsksCommand && settings.CanBeOneKey(r.Text) && reading.IsAll(r)
}

// CanEnter reports whether a request of p, which took a second key, may be entered so that one key allows it from then on.
func (p *Pending) CanEnter(r *Request) bool {
	here := p.Session.Machine == "" && p.Session.HasLocalFolder() && !isOfProgram(&p.Session)
	return here && !r.OneKey && r.CanAllow && canEnter(&r.Request, &p.Session)
}

// environment returns the environment with which a session's process was started, if that runs under the same conditions as this one.
func environment(s *app.Session) []string {
	if s.Process.IsZero() || proc.CheckBoundary(s.Process) != nil {
		return nil
	}
	env, err := proc.Open().Env(s.Process)
	if err != nil {
		return nil
	}
	return env
}
