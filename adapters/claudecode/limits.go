package claudecode

import (
	"bytes"
	"context"
	"errors"
	"regexp"
	"slices"
	"strings"
	"time"

	"rollcall/adapters"
	"rollcall/adapters/internal/agentfile"
	"rollcall/adapters/internal/kit"
)

// Limits implements adapters.Limiter. Claude Code prints in the output of a background launch how much of a subscription's windows is used
// (2.1.332), and of every session to a status line. It stores only that a limit was reached: in the message with which it then ends a turn (2.1.100, 2.1.332). Such a limit is left out once a model has answered after it, in whatever session of the home: it was
// raised, bought off, or is that of another account.
func (a *Adapter) Limits(ctx context.Context) ([]adapters.Limit, error) {
	answer := kit.NewAnswer()
	_, homes := a.homes(ctx, answer)
	var found []adapters.Limit
	for _, root := range homes.Paths {
		var files []kit.LimitFile
		for _, f := range a.listAll(ctx, answer, root) {
			files = append(files, kit.LimitFile{Path: f.path, Info: f.info})
		}
		limits, err := a.limits.Newest(ctx, root, files, a.Now(), limitsOf)
		answer.Problem(err)
		found = append(found, inForce(limits)...)
	}
	found = append(found, a.printedLimits(ctx, answer)...)
	found = append(found, a.told()...)
	return kit.NewestLimits(found), errors.Join(answer.Problems()...)
}

// answeredBy begins the name of what limitsOf returns for an answer; the rest is the model.
const answeredBy = "\x00"

// limitsOf returns the limit that a line of a transcript says to be reached, or a mark for an answer of a model.
func limitsOf(line []byte) []adapters.Limit {
	if !bytes.Contains(line, []byte(`"assistant"`)) {
		return nil
	}
	rec, err := (&parser{}).parse(line)
	switch {
	case err != nil || rec.kind != answered:
		return nil
	case !rec.synthetic && !rec.failed:
		return []adapters.Limit{{Name: answeredBy + strings.ToLower(rec.model), At: rec.at}}
	case !rec.failed || string(agentfile.Text(agentfile.Get(line, "error"))) != "rate_limit":
		return nil
	}
	limit := adapters.Limit{Used: 100, At: rec.at}
	limit.ResetsAt = resetAt(agentfile.Get(line, "quotaLimits", "resetsAt"))
	if !limit.ResetsAt.IsZero() {
		limit.Window, limit.Name = window(string(agentfile.Text(agentfile.Get(line, "quotaLimits", "rateLimitType"))))
		return []adapters.Limit{limit}
	}
	words := limitSentence.FindStringSubmatch(rec.said)
	if words == nil {
		return nil
	}
	limit.Window, limit.Name = window(words[1] + words[2])
	limit.ResetsAt = kit.ResetTime(rec.said, rec.at)
	return []adapters.Limit{limit}
}

const (
	fiveHours = 5 * time.Hour
	sevenDays = 7 * 24 * time.Hour
)

// limitWindows has the limits by their rateLimitType of 2.1.332, or their name in a sentence of earlier versions.
var limitWindows = map[string]adapters.Limit{
	"five_hour": {Window: fiveHours}, "session": {Window: fiveHours}, "5-hour": {Window: fiveHours},
	"seven_day": {Window: sevenDays}, "weekly": {Window: sevenDays}, "Weekly": {Window: sevenDays},
	"seven_day_opus": {Window: sevenDays, Name: "Opus"}, "Opus": {Window: sevenDays, Name: "Opus"},
	"seven_day_sonnet": {Window: sevenDays, Name: "Sonnet"}, "Sonnet": {Window: sevenDays, Name: "Sonnet"},
	"seven_day_overage_included": {Window: sevenDays, Name: "Fable"}, "Fable": {Window: sevenDays, Name: "Fable"},
}

// window returns the length and the name of a limit; 0 and the name that it has in the record for one that is not known.
func window(kind string) (length time.Duration, name string) {
	if known, ok := limitWindows[kind]; ok {
		return known.Window, known.Name
	}
	return 0, kit.PlainWord(kind)
}

// limitSentence matches the messages of versions without quotaLimits: "You've hit your session limit · resets 2:26am (Europe/Berlin)" (2.1.100), and those of
// earlier ones.
var limitSentence = regexp.MustCompile(`^(?:You've hit your (?:([^ ·]+) )?limit\b|(5-hour|Weekly|Opus|Sonnet) limit reached\b|Claude AI usage limit reached\|)`)

// inForce returns the limits after which no model that they apply to has answered.
func inForce(limits []adapters.Limit) []adapters.Limit {
	return slices.DeleteFunc(limits, func(l adapters.Limit) bool {
		return strings.HasPrefix(l.Name, answeredBy) || slices.ContainsFunc(limits, func(o adapters.Limit) bool {
			model, ok := strings.CutPrefix(o.Name, answeredBy)
			return ok && o.At.After(l.At) && (l.Name == "" || strings.Contains(model, strings.ToLower(l.Name)))
		})
	})
}
