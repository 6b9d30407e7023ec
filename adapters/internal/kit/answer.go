package kit

import (
	"cmp"
	"context"
	"errors"
	"maps"
	"slices"
	"sync"

	"rollcall/adapters"
	"rollcall/adapters/internal/agentfile"
)

// Answer collects the parts of an adapter's answer to one question: the sessions, the
// places that were searched, the skipped records, the problems, and the folders to
// watch. Use NewAnswer to make one. It is safe for concurrent use.
type Answer struct {
	mu       sync.Mutex
	roll     adapters.Roll
	problems []error
	watch    []string
	index    map[string]int // session id: index in the roll
}

// NewAnswer returns an empty answer.
func NewAnswer() *Answer {
	return &Answer{roll: adapters.Roll{Versions: map[string]int{}, Skipped: map[string]int{}}, index: map[string]int{}}
}

// Problem adds the errors that are not nil. What is in the place of a folder is named once, although all of its contents are missing.
func (a *Answer) Problem(errs ...error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	for _, err := range errs {
		again := errors.Is(err, agentfile.ErrNotFolder) && slices.ContainsFunc(a.problems, func(known error) bool { return known.Error() == err.Error() })
		if err != nil && !again {
			a.problems = append(a.problems, err)
		}
	}
}

// Problems returns the errors that were added.
func (a *Answer) Problems() []error {
	a.mu.Lock()
	defer a.mu.Unlock()
	return slices.Clone(a.problems)
}

// Skip counts n records or files that were skipped for a reason.
func (a *Answer) Skip(reason string, n int) {
	if n != 0 {
		a.SkipAll(map[string]int{reason: n})
	}
}

// SkipAll adds counts by reason.
func (a *Answer) SkipAll(counts map[string]int) {
	a.mu.Lock()
	defer a.mu.Unlock()
	for reason, n := range counts {
		a.roll.Skipped[reason] += n
	}
}

// Copies counts answers in the files of sessions that count for another session.
func (a *Answer) Copies(n int) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.roll.Ledger.Copies += n
}

// Settle finds which of the answers in accounts count for which session, and counts the copies.
func (a *Answer) Settle(accounts []*Account) {
	Settle(accounts)
	for _, one := range accounts {
		a.Copies(one.Copies)
	}
}

// LeaveOut counts n files whose answers count nowhere. why is what is true of them, one of the constants of this package.
func (a *Answer) LeaveOut(why string, n int) {
	if n == 0 {
		return
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	l := &a.roll.Ledger
	l.LeftOut = plus(l.LeftOut, why, n)
}

// LeaveOutAll counts files whose answers are known and count nowhere, each with its ledger. An answer that several of them have counts once.
func (a *Answer) LeaveOutAll(why string, ledgers ...*Ledger) {
	if len(ledgers) == 0 {
		return
	}
	all := &Account{Ledgers: ledgers}
	Settle([]*Account{all})
	a.LeaveOut(why, len(ledgers))
	a.mu.Lock()
	defer a.mu.Unlock()
	for i := range all.Usage {
		if l, n := &a.roll.Ledger, all.Usage[i].Answers; n > 0 {
			l.LeftOutAnswers = plus(l.LeftOutAnswers, why, n)
		}
	}
}

func plus(counts map[string]int, why string, n int) map[string]int {
	if counts == nil {
		counts = map[string]int{}
	}
	counts[why] += n
	return counts
}

// The reasons why the answers in a file count nowhere.
const (
	NotRecognised = "not recognised"
	NotReadable   = "not readable"
	NotInTime     = "not read in time"
	NoSession     = "of sub-agents whose session is gone"
	Contradictory = "with counts of tokens that contradict each other" // their answers count as each was stated alone
)

// Skipped returns the number of records or files that were skipped for a reason.
func (a *Answer) Skipped(reason string) int {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.roll.Skipped[reason]
}

// LookedIn adds places that were searched, each once.
func (a *Answer) LookedIn(paths ...string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.roll.LookedIn = AppendNew(a.roll.LookedIn, paths...)
}

// Watch adds folders to watch, which change when sessions change.
func (a *Answer) Watch(paths ...string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.watch = append(a.watch, paths...)
}

// Watched returns the folders that were added.
func (a *Answer) Watched() []string {
	a.mu.Lock()
	defer a.mu.Unlock()
	return slices.Clone(a.watch)
}

// Expect makes room for n more sessions, so that adding them copies no sessions.
func (a *Answer) Expect(n int) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.roll.Sessions = slices.Grow(a.roll.Sessions, n)
}

// Add adds a session.
func (a *Answer) Add(s adapters.Session) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if s.Branch == adapters.NoBranch {
		s.Branch = ""
	}
	a.index[s.ID] = len(a.roll.Sessions)
	a.roll.Sessions = append(a.roll.Sessions, s)
}

// AddRemote adds a machine or gateway that answered in full.
func (a *Answer) AddRemote(name string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.roll.Remotes = AppendNew(a.roll.Remotes, name)
}

// CountVersion counts a session by the version of the agent that wrote it, which is
// empty where that is not known.
func (a *Answer) CountVersion(version string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.roll.Versions[cmp.Or(version, "unknown")]++
}

// AddOnce adds a session unless the answer has one with its id. Of two sessions with the same
// id the answer keeps the one that isLive accepts, else the one that was active last, and
// counts the other as skipped for the reason, but for its usage. AddOnce counts the version of each session once.
func (a *Answer) AddOnce(s adapters.Session, reason string, isLive func(*adapters.Session) bool) {
	a.mu.Lock()
	i, again := a.index[s.ID]
	a.mu.Unlock()
	if !again {
		a.Add(s)
		a.CountVersion(s.Version)
		return
	}
	a.Skip(reason, 1)
	a.mu.Lock()
	defer a.mu.Unlock()
	known := &a.roll.Sessions[i]
	if live, was := isLive(&s), isLive(known); live && !was || live == was && s.LastActivityAt.After(known.LastActivityAt) {
		*known, s = s, *known
	}
	known.Usage = JoinUsage(known.Usage, s.Usage, s.Home) // each answer counts once, here or there
}

// JoinUsage returns what counts for a session that goes on in two homes: list and what was used in a further home.
func JoinUsage(list, more []adapters.Usage, home string) []adapters.Usage {
	for _, u := range more {
		u.Home = cmp.Or(u.Home, home)
		list = append(slices.Clip(list), u)
	}
	slices.SortStableFunc(list, func(x, y adapters.Usage) int { return x.At.Compare(y.At) })
	return list
}

// Has reports whether the answer has a session with that id.
func (a *Answer) Has(id string) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	_, has := a.index[id]
	return has
}

// Absent returns the result for an agent that is not installed.
func (a *Answer) Absent() (adapters.Roll, error) { return a.roll, adapters.ErrAbsent }

// Result returns the sessions and, joined, what is missing from them. If ctx is done,
// the errors include a timeout of the agent, which is called name. The answer must not
// be used afterwards.
func (a *Answer) Result(ctx context.Context, name string) (adapters.Roll, error) {
	if ctx.Err() != nil {
		a.Problem(&adapters.Problem{Kind: adapters.ErrTimeout, Path: name, Err: ctx.Err()})
	}
	return a.roll, errors.Join(a.problems...)
}

// maxReasons is the number of different reasons for skipping that are counted for one file.
const maxReasons = 16

// CountSkipped returns a copy of counts in which reason is counted once more. When
// there are too many reasons, a new one is counted under a common name.
func CountSkipped(counts map[string]int, reason string) map[string]int {
	counts = maps.Clone(counts)
	if counts == nil {
		counts = map[string]int{}
	}
	if _, known := counts[reason]; !known && len(counts) >= maxReasons {
		reason = "further kinds of records"
	}
	counts[reason]++
	return counts
}
