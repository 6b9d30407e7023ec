// Package present returns the words with which the menu, the window, the command line and notifications show sessions:
// names of agents, statuses, ages and cleaned text. Its functions have no side effects.
package present

import (
	"cmp"
	"fmt"
	"maps"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"

	"github.com/dustin/go-humanize"
	"github.com/dustin/go-humanize/english"
	"github.com/rivo/uniseg"

	"rollcall/adapters"
	"rollcall/proc"
)

// AgentName returns the name that the agent's makers use. For an agent without an adapter it returns n.
func AgentName(n adapters.Name) string {
	if d, ok := adapters.Describe(n); ok {
		return d.Title
	}
	return Line(string(n))
}

// agentNames lists the names of agents.
func agentNames(list []adapters.Name) string {
	names := make([]string, len(list))
	for i, n := range list {
		names[i] = AgentName(n)
	}
	return strings.Join(names, ", ")
}

// LeftOut returns a text with the agents that the settings leave out; empty: there are none.
func LeftOut(agents []adapters.Name) string {
	if len(agents) == 0 {
		return ""
	}
	return "left out by the settings: " + agentNames(agents)
}

// ReadingAfter is how long the agents may take to answer before Reading is shown.
const ReadingAfter = 300 * time.Millisecond

// Reading returns a text for the time until all agents have answered: which have not answered yet, and how many
// sessions the others have.
func Reading(agents []adapters.Name, sessions int) string {
	line := strings.TrimSpace("reading "+agentNames(agents)) + "…"
	switch {
	case sessions == 1:
		line += " 1 session so far"
	case sessions > 1:
		line += fmt.Sprintf(" %d sessions so far", sessions)
	}
	return line
}

// LeftBehind returns that n processes were left behind; empty: none were.
func LeftBehind(n int) string {
	return When(n > 0, "left "+english.Plural(n, "process", "processes")+" behind")
}

// Status returns what the session does in a word or two: "needs permission",
// "suspended", "open, no session yet".
func Status(s adapters.Session) string {
	if s.Suspended && s.Live() {
		return suspended(&s)
	}
	switch s.Status {
	case adapters.Waiting:
		return waitingFor(s.WaitingFor)
	case adapters.Idle:
		if s.IsProcess() {
			return "open, " + noSession
		}
		return strings.Join(append([]string{"idle" + afterTurn(&s.State)}, Background(&s.State)...), " · ")
	case adapters.Working:
		if s.Limited {
			return "working, " + limited
		}
		if s.Quiet > 0 {
			return "working, no sign of life for " + span(s.Quiet)
		}
	case adapters.Stopped:
		return cmp.Or(Outcome(&s.State), "stopped")
	case adapters.Unknown:
		if IsNotRead(&s) {
			return "not read"
		}
		if s.MayAsk {
			return "unknown, may ask you"
		}
	}
	return Line(string(s.Status))
}

// IsNotRead reports whether a session is a process of an agent that is only seen: no file of it says more.
func IsNotRead(s *adapters.Session) bool {
	d, _ := adapters.Describe(s.Agent)
	byProgram := strings.HasPrefix(s.ID, string(s.Agent)+":") // a program of the user's lists it
	return d.Unread && !byProgram
}

// noSession is part of the status of an agent's process without a session.
const noSession = "no session yet"

// suspended returns the status of a live session whose process is stopped by a signal: "suspended" for a session that
// works or is idle, or the wait followed by "suspended".
func suspended(s *adapters.Session) string {
	switch {
	case s.Status == adapters.Waiting:
		return waitingFor(s.WaitingFor) + ", suspended"
	case s.Status == adapters.Unknown:
		return "unknown, suspended"
	case s.IsProcess():
		return "suspended, " + noSession
	}
	return "suspended" + afterTurn(&s.State)
}

func waitingFor(w adapters.WaitingFor) string {
	switch w {
	case adapters.ForPermission:
		return "needs permission"
	case adapters.ForQuestion:
		return "asks you"
	}
	return "needs you"
}

// limited is the text for a turn that failed because a limit of the provider was reached.
const limited = "rate limit reached"

// afterTurn returns the suffix of an idle session's status for a last turn that failed, was interrupted or left something to the user's decision.
func afterTurn(s *adapters.State) string {
	switch {
	case s.MayAsk:
		return ", or asks you"
	case s.Outcome == adapters.Failed && s.Limited:
		return ", " + limited
	case s.Outcome == adapters.Failed:
		return ", failed"
	case s.Outcome == adapters.Interrupted:
		return ", interrupted"
	case s.Decision != "":
		return ", " + Line(s.Decision) + " waits"
	}
	return ""
}

// Outcome returns how the last turn of a session ended: "died in mid-turn".
func Outcome(s *adapters.State) string {
	switch s.Outcome {
	case adapters.Completed:
		return "turn complete"
	case adapters.Interrupted:
		return "stopped by you"
	case adapters.Failed:
		if s.Limited {
			return limited
		}
		return "turn failed"
	case adapters.Died:
		return "died in mid-turn"
	}
	if s.MayAsk && s.Status == adapters.Stopped {
		return "answered, or asked you"
	}
	return Line(string(s.Outcome))
}

// Project returns the name of the session's folder, for narrow rows. A name without a letter says nothing alone ("1", of a worktree), so that it follows
// the nearest folder above that has one and is not a folder for worktrees: "shop/1".
func Project(cwd string) string {
	if cwd == "" {
		return "(no folder)"
	}
	cwd = filepath.Clean(cwd)
	name := Line(filepath.Base(cwd))
	if name == "" {
		return "(unprintable)"
	}
	for at := filepath.Dir(cwd); !named(name) && at != filepath.Dir(at); at = filepath.Dir(at) {
		if above := Line(filepath.Base(at)); named(above) && above[0] != '.' && above != "worktrees" {
			return above + "/" + name
		}
	}
	return name
}

func named(folder string) bool { return strings.ContainsFunc(folder, unicode.IsLetter) }

// MinID is the number of characters of an id that are shown.
const MinID = 8

// ShortID returns the beginning of an id for a line of text. For a row of a process it returns the whole process number
// and the following hyphen, which no other row has.
func ShortID(s *adapters.Session) string {
	if s.IsProcess() {
		return s.ID[:strings.LastIndexByte(s.ID, '-')+1]
	}
	return Begin(s.ID, MinID)
}

// Begin returns the start of s, at most n bytes, cut between characters. It limits the cost of cleaning a hostile text.
func Begin(s string, n int) string {
	if len(s) <= n {
		return s
	}
	for n > 0 && s[n]&0xc0 == 0x80 {
		n--
	}
	return s[:n]
}

// Where returns o.Where with a program name that is one clean line.
func Where(o *adapters.Owner) string {
	shown := adapters.Owner{Host: Line(o.Host)}
	return shown.Where()
}

// Topic returns the title of the session, or else its last prompt or its first prompt, as one clean line. It is empty if
// none is known.
func Topic(t adapters.Topic) string {
	for _, text := range []string{t.Name, t.Title, t.LastPrompt, t.FirstPrompt} {
		text = Line(text)
		if text != "" {
			return text
		}
	}
	return ""
}

// Doing returns what happens in a session, as one clean line: why its last turn failed, the running tool and for how long ("make test · 3 m"), the beginning of the last reply, or, where
// nothing else is known, its topic. Marks of Markdown are left out of a reply. The user's own name for the session comes first.
func Doing(s adapters.Session, now time.Time) string {
	if why := FailedWhy(&s.State); why != "" {
		s.Doing = why
	}
	text, name := Line(s.Doing), Line(s.Name)
	if name != "" && text != "" {
		s.Name = ""
		return name + " · " + Doing(s, now)
	}
	switch {
	case text == "":
		return Topic(s.Topic)
	case s.Status == adapters.Working && !s.DoingSince.IsZero() && now.Sub(s.DoingSince) >= time.Minute:
		return Cut(text, doingWidth) + " · " + Since(s.DoingSince, now)
	case s.Status == adapters.Idle, s.Status == adapters.Stopped: // the beginning of a reply, in Markdown; a command keeps its marks
		return Line(adapters.Plain(s.Doing))
	}
	return text
}

// failedWhy finds the agent's words in the evidence of a failed turn, where every adapter has them in parentheses.
var failedWhy = regexp.MustCompile(`(?:last turn (?:failed|ended)|error)[^()]* \((.+)\)$`)

// FailedWhy returns why the last turn of a session failed, in the agent's words and as one clean line; empty: it did not fail, or the agent recorded no reason.
func FailedWhy(s *adapters.State) string {
	if found := failedWhy.FindStringSubmatch(s.Evidence); s.Outcome == adapters.Failed && found != nil {
		return Line(found[1])
	}
	return ""
}

// doingWidth is the width of what a session does before its age, in cells.
const doingWidth = 80

// Age returns a duration in its largest unit, such as "now", "42 s", "5 m", "3 h" or "2 d".
func Age(d time.Duration) string {
	switch {
	case d < 2*time.Second:
		return "now"
	case d < time.Minute:
		return fmt.Sprintf("%d s", int(d/time.Second))
	case d < time.Hour:
		return fmt.Sprintf("%d m", int(d/time.Minute))
	case d < 24*time.Hour:
		return fmt.Sprintf("%d h", int(d/time.Hour))
	}
	return fmt.Sprintf("%d d", int(d/(24*time.Hour)))
}

// Since returns the Age of t at now, or an empty string for a zero t. It returns "now" for a t in the future.
func Since(t, now time.Time) string {
	if t.IsZero() {
		return ""
	}
	return Age(now.Sub(t))
}

// Counted lists the keys of counts with their numbers, the largest number first. format has the key and the number; keys are cut to width cells.
func Counted(counts map[string]int, format string, width int) string {
	const most = 12
	names := slices.SortedFunc(maps.Keys(counts), func(a, b string) int {
		return cmp.Or(counts[b]-counts[a], strings.Compare(b, a))
	})
	var parts []string
	for _, n := range names[:min(len(names), most)] {
		parts = append(parts, fmt.Sprintf(format, cmp.Or(Cut(Line(n), width), "unknown"), humanize.Comma(int64(counts[n]))))
	}
	if more := len(names) - most; more > 0 {
		parts = append(parts, fmt.Sprintf("and %d more", more))
	}
	return strings.Join(parts, ", ")
}

// Ago returns how long ago t was, as in "5 m ago"; "now" for a moment ago, and an empty text for a zero t.
func Ago(t, now time.Time) string {
	age := Since(t, now)
	if age != "" && age != "now" {
		age += " ago"
	}
	return age
}

// Cut returns s, shortened to at most width terminal cells with an ellipsis. It does not split a grapheme.
func Cut(s string, width int) string {
	if uniseg.StringWidth(s) <= width {
		return s
	}
	if width <= 0 {
		return ""
	}
	var b strings.Builder
	used := 0
	g := uniseg.NewGraphemes(s)
	for g.Next() {
		if used+g.Width() > width-1 {
			break
		}
		used += g.Width()
		b.WriteString(g.Str())
	}
	return strings.TrimRight(b.String(), " ") + "…"
}

// CutPath shortens s as Cut does, but where it is too long it first shortens the longest path in it, in the middle: the ends distinguish paths, and what an agent does
// mostly ends with one.
func CutPath(s string, width int) string {
	over := Width(s) - width
	path := ""
	for word := range strings.FieldsSeq(s) {
		if strings.Count(word, "/")+strings.Count(word, `\`) > 1 && Width(word) > Width(path) {
			path = word
		}
	}
	if keep := Width(path) - over; over > 0 && keep >= leastPath {
		front := Cut(path, keep/3)
		s = strings.Replace(s, path, front+CutStart(path, keep-Width(front)+1)[len("…"):], 1)
	}
	return Cut(s, width)
}

// leastPath is the number of cells that a path keeps. A path that would get fewer is cut like the rest.
const leastPath = 16

// Width returns the number of terminal cells that s takes.
func Width(s string) int { return uniseg.StringWidth(s) }

// Evidence returns the session's evidence as one clean line.
func Evidence(s *adapters.State) string { return Line(s.Evidence) }

// Count returns a number of tokens with a comma between thousands: "1,234,567".
func Count(n int64) string { return humanize.Comma(n) }

// Cost returns the cost of all sessions of a row, of which only some may have a known cost: "$1.20", "at least $1.20", or a dash if that of most is not known or what
// is known is less than a cent.
func Cost(usd float64, known, all int) string {
	text := fmt.Sprintf("$%.2f", usd)
	switch {
	case known == 0, 2*known < all, known < all && usd < 0.005:
		return "–"
	case known < all:
		return "at least " + text
	}
	return text
}

// UsageKey returns the name of a row in a usage table. An agent has the name that its makers use, and an empty key the text that it is not known.
func UsageKey(by, key string) string {
	switch {
	case key == "" && by == "group":
		return "no group"
	case key == "":
		return by + " not known"
	case by == "agent":
		return AgentName(adapters.Name(key))
	}
	return Line(key)
}

// CommandLine returns a command line as one line, in which words with spaces are quoted.
func CommandLine(args []string) string {
	words := make([]string, len(args))
	for i, arg := range args {
		words[i] = Line(arg)
		if words[i] == "" || strings.ContainsFunc(arg, func(r rune) bool { return unicode.IsSpace(r) || r == '\'' || r == '"' }) {
			words[i] = strconv.Quote(words[i])
		}
	}
	return strings.Join(words, " ")
}

// commandWidth is the width of a command line in Tree, in cells.
const commandWidth = 160

// Tree returns a line for root and one for each of its descendants, indented below the parent, with the command lines that are known.
func Tree(root proc.Process, below []proc.Process, commands map[proc.Identity]string) []string {
	children := map[int][]proc.Process{}
	for _, p := range below {
		children[p.PPID] = append(children[p.PPID], p)
	}
	var lines []string
	var add func(p proc.Process, depth int)
	add = func(p proc.Process, depth int) {
		line := strings.Repeat("  ", depth) + fmt.Sprintf("%d %s", p.PID, Line(p.Comm))
		if command := commands[p.Identity]; command != "" {
			line += ": " + Cut(command, commandWidth)
		}
		lines = append(lines, line)
		for _, c := range children[p.PID] {
			add(c, depth+1)
		}
	}
	add(root, 0)
	return lines
}

// StoppedBy returns how a session was stopped, after the time that it took: by the last signal that was sent to its process, or through what is not empty.
func StoppedBy(by proc.Signal, through string, took time.Duration) string {
	when := "at once"
	took = took.Round(time.Second)
	if took > 0 {
		when = "after " + took.String()
	}
	how := map[proc.Signal]string{
		proc.Interrupt: "it ended when interrupted (SIGINT)", proc.Terminate: "it ended when asked to (SIGTERM)", proc.Kill: "it had to be killed",
	}[by]
	switch {
	case through != "":
		return Line(through) + " stopped it " + when
	case how == "":
		return "stopped " + when
	}
	return "stopped " + when + ": " + how
}

// LeftOutFiles returns a text for each reason for which files are left out of sums: "3 files not recognised", with the number of answers if it is known.
func LeftOutFiles(files, answers map[string]int) (words []string) {
	for _, why := range slices.Sorted(maps.Keys(files)) {
		text := fmt.Sprintf("%d files ", files[why])
		if files[why] == 1 {
			text = "1 file "
		}
		text += Line(why)
		switch n := answers[why]; {
		case n == 1:
			text += " (1 answer)"
		case n > 1:
			text += fmt.Sprintf(" (%d answers)", n)
		}
		words = append(words, text)
	}
	return words
}
