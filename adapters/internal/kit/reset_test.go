package kit

import (
	"testing"
	"time"

	"rollcall/internal/must"
)

// TestResetTime: the forms that the messages of Claude Code 2.1.100 to 2.1.332 and Codex 0.169.0 have; nothing is guessed from others.
func TestResetTime(t *testing.T) {
	berlin, err := time.LoadLocation("Europe/Berlin")
	must.Do(t, err)
	written := time.Date(2026, 11, 25, 14, 30, 0, 0, time.Local)
	at := func(day, hour, minute int, zone *time.Location) time.Time {
		return time.Date(2026, 11, day, hour, minute, 0, 0, zone)
	}
	inBerlin := at(25, 15, 5, berlin)
	if !inBerlin.After(written) {
		inBerlin = at(26, 15, 5, berlin)
	}
	for text, want := range map[string]time.Time{
		"5-hour limit reached ∙ resets 3pm": at(25, 15, 0, time.Local), "Your limit will reset at 9:05 AM.": at(26, 9, 5, time.Local),
		"try again at 3:51 PM.": at(25, 15, 51, time.Local), "resets 12am": at(26, 0, 0, time.Local), "reset at 3:05pm (Europe/Berlin)": inBerlin,
		"Claude AI usage limit reached|1764082800": time.Unix(1764082800, 0), "Try again in 1 day 2 hours 5 minutes.": written.Add(26*time.Hour + 5*time.Minute),
		"You've hit your weekly limit · resets Nov 28 at 3pm": at(28, 15, 0, time.Local), "You've hit your Opus limit · resets Nov 28, 3:05pm (Europe/Berlin) · progress saved": at(28, 15, 5, berlin),
		"You've hit your monthly spend limit. It resets Jan 2, 2027, 12am.": time.Date(2027, 1, 2, 0, 0, 0, 0, time.Local), "resets Jan 2, 12am": time.Date(2027, 1, 2, 0, 0, 0, 0, time.Local),
		"your session limit resets 3 p.m.": at(25, 15, 0, time.Local), "or try again at Nov 27th, 2026 3:51 PM.": at(27, 15, 51, time.Local), "resets December 1, 1am (UTC)": time.Date(2026, 12, 1, 1, 0, 0, 0, time.UTC),
		"resets 2:30pm": at(25, 14, 30, time.Local), "resets Feb 30, 3pm": {}, "resets 3:75pm": {}, "resets Nov 28": {},
		"resets 13pm": {}, "resets soon": {}, "try again in a while": {}, "resets 3pm (Nowhere/City)": {}, "": {}, "try again in 99999999999999999999 days": {},
	} {
		if got := ResetTime(text, written); !got.Equal(want) {
			t.Errorf("%q: %v; want %v", text, got, want)
		}
	}
}
