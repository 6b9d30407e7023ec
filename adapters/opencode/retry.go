package opencode

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"

	"rollcall/adapters/internal/agentfile"
)

// limitActions are the reasons of the action with which a server of OpenCode (1.18.33) says that a usage limit is reached.
var limitActions = []string{"account_rate_limit", "free_tier_limit"}

// limitWords matches what providers say of a limit: the words by which OpenCode (1.18.33) recognises one.
var limitWords = regexp.MustCompile(`(?i)rate[ _-]limit|too[ _]many[ _]requests`)

// limitedUntil returns when a turn that failed at a limit of its provider is tried again; zero if the turn does not wait for that. The server of OpenCode says it,
// and OpenCode 2 stores it; OpenCode 1 does not.
func (s observation) limitedUntil() time.Time {
	var next millis
	if s.server != nil {
		if state := s.server.status[s.facts.id]; state.Type == "retry" &&
			(slices.Contains(limitActions, agentfile.String(agentfile.Get(state.Action, "reason"))) || limitWords.MatchString(state.Message)) {
			next = state.Next
		}
	}
	if last := s.facts.last; next == 0 && last.Retry != nil && last.Time.Completed == 0 && limitWords.MatchString(last.Retry.Error.Type+" "+last.Retry.Error.Message) {
		next = last.Retry.At
	}
	if at := next.time(); at.After(s.now) {
		return at
	}
	return time.Time{}
}

// retryText describes a retry, for evidence.
func (s observation) retryText(attempt int, next millis, message string) string {
	when := ""
	if next.time().After(s.now) {
		when = " at " + s.clock(next)
	}
	return fmt.Sprintf("retry%s, attempt %d: %.120s", when, attempt, strings.ToValidUTF8(message, ""))
}
