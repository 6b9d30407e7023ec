package launch

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"

	"rollcall/adapters"
	"rollcall/app"
	"rollcall/app/present"
	"rollcall/app/store"
	"rollcall/app/store/lock"
)

// CheckResume returns an error if a session cannot be resumed on this machine. It does not check whether the session is
// still running.
func CheckResume(s *app.Session) error {
	d, _ := adapters.Describe(s.Agent)
	switch {
	case s.Machine != "":
		return fmt.Errorf("session %s runs on %s; to resume it there: rollcall resume %s --terminal", s.IDThere(), present.Line(s.Machine), store.Quote(s.ID))
	case s.Remote != "":
		return fmt.Errorf("session %s runs on %s: send it a message there", s.ID, present.Line(s.Remote))
	case s.Container != "":
		return fmt.Errorf("session %s runs in a container (%s), whose files this machine does not have: resume it there", s.ID, present.Line(s.Container))
	case s.IsProcess():
		return fmt.Errorf("%s is open in process %d and has no session yet: there is nothing to resume", present.AgentName(s.Agent), s.Process.PID)
	case s.Launch != nil && s.Launch.Unlisted && !d.Unread: // of an agent that is only seen, the launch is all that there is
		return fmt.Errorf("%s lists no session for launch %s: there is nothing to resume", present.AgentName(s.Agent), s.Launch.ID)
	case s.ID == "":
		return errors.New("a session without an id cannot be resumed")
	case CheckID(s.ID) != nil:
		return CheckID(s.ID)
	case s.CWD == "":
		return fmt.Errorf("session %s cannot be resumed: its folder is not known", s.ID)
	case s.NoResume != "":
		return fmt.Errorf("session %s cannot be resumed: %s", s.ID, present.Line(s.NoResume))
	}
	if s.Archived && d.Unarchive != "" {
		return fmt.Errorf("session %s is archived; take it out of the archive first: %s %s", s.ID, d.Unarchive, store.Quote(s.ID))
	}
	return nil
}

// CheckID returns an error for the id of a session that must not be an argument of its agent's program. An agent chooses no such id, but whoever can
// write its files can: the program would read it as an option.
func CheckID(id string) error {
	if strings.HasPrefix(id, "-") {
		return fmt.Errorf("session %s is not passed to its agent: its id looks like an option", store.Quote(present.Line(id)))
	}
	return nil
}

// checkFolder returns an error in words if the folder of a session that is to be resumed is gone.
func checkFolder(t *adapters.Task) error {
	if _, err := os.Stat(t.Dir); !errors.Is(err, fs.ErrNotExist) {
		return nil // also where it can't be examined: the next step says why
	}
	return fmt.Errorf("the folder of session %s is gone: %s; to resume it in another folder: rollcall resume %s --cwd FOLDER",
		t.Resume, lock.Shown(t.Dir), store.Quote(t.Resume))
}

// ResumeCommand returns the POSIX shell command that resumes s: the program and arguments of a launch in a terminal. It
// searches the PATH for the program.
func ResumeCommand(a adapters.Adapter, s *app.Session) (string, error) {
	if err := CheckResume(s); err != nil {
		return "", err
	}
	p, err := Prepare(a, Request{Task: adapters.Task{Dir: ResumeFrom(s), Resume: s.ID, Home: s.Home, Terminal: true}}, nil)
	if err != nil {
		return "", err
	}
	return p.Shell(), nil
}

// ResumeFrom returns the folder in which a session is resumed.
func ResumeFrom(s *app.Session) string { return cmp.Or(s.ResumeIn, s.CWD) }

// Shell returns the plan as a command for a POSIX shell. It begins with cd to the folder.
func (p *Plan) Shell() string {
	words := []string{"cd", store.Quote(p.Request.Task.Dir), "&&"}
	for _, name := range p.Command.Unset {
		words = append(words, "env", "-u", name)
	}
	if len(p.Command.Unset) > 0 && len(p.Command.Set) > 0 {
		words = append(words, "env") // assignments come after its options
	}
	for _, v := range p.Command.Set {
		name, value, _ := strings.Cut(v, "=")
		words = append(words, name+"="+store.Quote(value))
	}
	words = append(words, store.Quote(p.Command.Path))
	for _, a := range p.Command.Args {
		words = append(words, store.Quote(a))
	}
	return strings.Join(words, " ")
}

// HasResume reports whether an agent has a command that resumes a session of its own.
func HasResume(a adapters.Adapter, s *app.Session) bool {
	_, ok := a.(adapters.Launcher)
	return ok && CheckResume(s) == nil
}

// CanResumeThere reports whether the machine that lists a session can be asked to resume it.
func CanResumeThere(s *app.Session) bool {
	there := *s // as Rollcall on that machine lists it
	there.Machine = ""
	there.Remote = ""
	there.ID = s.IDThere()
	return s.Parent == "" && s.Stale == nil && s.Remote == s.Machine && s.Container == "" && CheckResume(&there) == nil
}
