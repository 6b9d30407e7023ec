package describe

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/dustin/go-humanize"
	"github.com/dustin/go-humanize/english"

	"rollcall/adapters"
	"rollcall/app"
	"rollcall/app/present"
)

// Healths returns the health of each agent, also of those that the settings leave out, and of each other machine.
func Healths(s *app.Snapshot) []app.Health {
	all := slices.Concat(s.Adapters, s.LeftOut.Adapters)
	rows := map[string]int{}
	if len(s.Machines) > 0 {
		for x := range s.All() {
			rows[x.Machine]++
		}
	}
	for _, m := range s.Machines {
		h := machineHealth(m)
		h.Name, h.Sessions = "Machine "+h.Name, rows[m.Name]
		all = append(all, h)
	}
	return all
}

// machineHealth returns the health of a machine in the form of an agent's.
func machineHealth(m app.MachineHealth) app.Health {
	return app.Health{Name: adapters.Name(m.Name), State: m.State, Problems: m.Problems, Answered: m.Answered, Elapsed: m.Elapsed, Asking: m.State == app.Pending}
}

// Failures returns the agents and the machines that could not be read completely.
func Failures(s *app.Snapshot) []app.Health {
	all := slices.Clone(s.Adapters)
	for _, m := range s.Machines {
		all = append(all, machineHealth(m))
	}
	return slices.DeleteFunc(all, func(h app.Health) bool { return h.State != app.Failed })
}

// Pending reports whether an agent or another machine has not been read yet.
func Pending(s *app.Snapshot) bool {
	return s.Generation == 0 && len(s.Adapters) == 0 || slices.ContainsFunc(s.Adapters, func(a app.Health) bool { return a.State == app.Pending }) ||
		slices.ContainsFunc(s.Machines, func(m app.MachineHealth) bool { return m.State == app.Pending })
}

// IsWaiting reports whether a session of the snapshot waits; with an empty id, whether any session does. The board may
// not list the session yet.
func IsWaiting(s *app.Snapshot, id string) bool {
	for x := range s.All() {
		if (id == "" || x.ID == id) && x.Status == adapters.Waiting {
			return true
		}
	}
	return false
}

// HealthFacts returns what is known of an agent or a machine; notes are those of the places where it is read.
func HealthFacts(h app.Health, notes map[string]string, now time.Time) []Field {
	isRead := h.State != app.Absent && h.State != app.Pending
	facts := WithValue(
		Field{Name: "Sessions", Value: present.When(isRead, humanize.Comma(int64(h.Sessions)))},
		Field{Name: "Versions", Value: present.When(isRead, present.Counted(h.Versions, "%s (%s)", 24))},
		Field{Name: "Format", Value: h.Format.String()},
		Field{Name: "Last read", Value: answered(h, now)},
		Field{Name: "Last attempt", Value: present.When(h.State == app.Failed && h.Elapsed > 0, "took "+present.Elapsed(h.Elapsed))},
		Field{Name: "Skipped", Value: present.Counted(h.Skipped, "%[2]s × %[1]s", 100)})
	var places []Field
	for _, place := range h.LookedIn {
		f := Field{Value: present.Short(place), Mono: true}
		if note := notes[place]; note != "" {
			f.Value += "  (" + note + ")"
		}
		places = append(places, f)
	}
	return append(facts, list("Looked in", places, len(places))...)
}

// answered returns when an agent was last read and, unless a later attempt failed, how long that took.
func answered(h app.Health, now time.Time) string {
	switch age := present.Ago(h.Answered, now); {
	case age != "" && h.State != app.Failed:
		return age + ", took " + present.Elapsed(h.Elapsed)
	case age == "" && h.State == app.Failed:
		return "never"
	default:
		return age
	}
}

// Names returns the names of agents and machines.
func Names(list []app.Health) (names []string) {
	for _, h := range list {
		names = append(names, present.AgentName(h.Name))
	}
	return names
}

// Installed returns the names of the installed agents.
func Installed(s *app.Snapshot) []string {
	return Names(slices.DeleteFunc(slices.Clone(s.Adapters), func(h app.Health) bool { return h.State == app.Absent }))
}

// Found returns how many sessions of an agent are listed, and where they were found. Launches that the agent does not list itself are among them, as in each list.
func Found(s *app.Snapshot, h *app.Health) string {
	n := 0
	for i := range s.Own {
		if s.Own[i].Agent == h.Name {
			n++
		}
	}
	if slices.Contains(s.LeftOut.Agents, h.Name) {
		n = h.Sessions
	}
	text := english.Plural(n, "recent session", "recent sessions")
	if len(h.LookedIn) > 0 {
		text += ", in " + present.Cut(present.Short(h.LookedIn[0]), 80)
	}
	return text
}

// MaxFailures is the largest number of agents and machines whose problem is shown.
const MaxFailures = 6

// Problems returns why agents and machines could not be read; empty: all could.
func Problems(s *app.Snapshot) string {
	var lines []string
	for _, h := range Failures(s) {
		why := "could not be read completely"
		if len(h.Problems) > 0 {
			why = present.Cut(present.Short(h.Problems[0]), 180)
		}
		if more := len(h.Problems) - 1; more > 0 {
			why += fmt.Sprintf(" (and %d more)", more)
		}
		lines = append(lines, present.AgentName(h.Name)+": "+why)
	}
	return withTroubles(present.FirstLines(lines, MaxFailures, 300), s)
}

// ProblemSummary returns a sentence with what could not be read, for a banner whose button shows why; empty: all could.
func ProblemSummary(s *app.Snapshot) string {
	names := present.Join(Names(Failures(s)))
	return withTroubles(present.When(names != "", present.Cut(names, 100)+" could not be read completely."), s)
}

// withTroubles adds the problems of Rollcall's own files to a text.
func withTroubles(text string, s *app.Snapshot) string {
	for _, t := range s.Troubles {
		text += "\nRollcall: " + present.Cut(present.Short(t), 180)
	}
	return strings.TrimSpace(text)
}
