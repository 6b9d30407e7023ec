package kit

import (
	"regexp"
	"strconv"
	"strings"
	"time"

	"rollcall/adapters"
)

// The forms in which agents state when a limit is reset: "resets 3pm", "will reset at 3:05 pm (Europe/Berlin)", "resets Nov 28, 3pm", "try again at 3:51 PM",
// "try again in 1 day 2 hours 5 minutes", "limit reached|1760000000".
var (
	resetClock = regexp.MustCompile(`(?i)(?:resets?|try again)(?: at| on)? ((?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]* \d{1,2}(?:st|nd|rd|th)?(?:, \d{4})?)?(?:,? at |, | )?(\d{1,2}(?::\d\d)? ?[ap])\.?m\b\.?(?: \(([A-Za-z_]+/[A-Za-z_/+-]+|UTC)\))?`)
	resetIn    = regexp.MustCompile(`(?i)try again in ((?:\d+ (?:day|hour|minute|second)s?[ ,.]*)+)`)
	resetPart  = regexp.MustCompile(`(?i)(\d+) (day|hour|minute|second)`)
	resetUnix  = regexp.MustCompile(`limit reached\|(\d{10})\b`)
	ordinal    = regexp.MustCompile(`(\d)(?:st|nd|rd|th)\b`)
)

// WithLimit returns s with the usage limit of the provider that failed its last turn, if the turn failed and the limit was reached. said is what the provider
// said of it, at a time.
func WithLimit(s adapters.State, reached bool, said string, at time.Time) adapters.State {
	if reached && s.Outcome == adapters.Failed {
		s.Limited = true
		s.LimitedUntil = ResetTime(said, at)
	}
	return s
}

// ResetTime returns the time at which a limit is reset, as a text says that was written at a time; zero if the text has no time in a form that is known. A time of
// day without a zone is in local time, and the first one after the text was written.
func ResetTime(text string, written time.Time) time.Time {
	if written.IsZero() {
		return time.Time{}
	}
	if m := resetUnix.FindStringSubmatch(text); m != nil {
		seconds, _ := strconv.ParseInt(m[1], 10, 64) // digits
		return time.Unix(seconds, 0)
	}
	if m := resetIn.FindStringSubmatch(text); m != nil {
		return later(written, m[1])
	}
	m := resetClock.FindStringSubmatch(text)
	if m == nil {
		return time.Time{}
	}
	zone := time.Local
	if m[3] != "" {
		named, err := time.LoadLocation(m[3])
		if err != nil {
			return time.Time{}
		}
		zone = named
	}
	return clockTime(ordinal.ReplaceAllString(m[1], "$1"), strings.ToLower(strings.ReplaceAll(m[2], " ", ""))+"m", written.In(zone))
}

// later returns the time after parts such as "1 day 2 hours".
func later(at time.Time, parts string) time.Time {
	for _, part := range resetPart.FindAllStringSubmatch(parts, -1) {
		n, err := strconv.Atoi(part[1])
		if err != nil || n > 1000 {
			return time.Time{}
		}
		at = at.Add(time.Duration(n) * map[string]time.Duration{"day": 24 * time.Hour, "hour": time.Hour, "minute": time.Minute, "second": time.Second}[strings.ToLower(part[2])])
	}
	return at
}

// clockTime returns the time that a day such as "Nov 28", which may be empty, and a time of day such as "3:05pm" name, seen from begin and in its zone.
func clockTime(day, clock string, begin time.Time) time.Time {
	var hour time.Time
	for _, form := range []string{"3pm", "3:04pm"} {
		if t, err := time.Parse(form, clock); err == nil {
			hour = t
		}
	}
	if hour.IsZero() {
		return hour
	}
	on := func(year int, month time.Month, day int) time.Time {
		return time.Date(year, month, day, hour.Hour(), hour.Minute(), 0, 0, begin.Location())
	}
	if day == "" {
		if at := on(begin.Date()); !at.Before(begin.Truncate(time.Minute)) {
			return at
		}
		return on(begin.Year(), begin.Month(), begin.Day()+1)
	}
	for _, form := range []string{"Jan 2, 2006", "January 2, 2006", "Jan 2", "January 2"} {
		t, err := time.Parse(form, day)
		if err != nil {
			continue
		}
		if t.Year() > 0 {
			return on(t.Year(), t.Month(), t.Day())
		}
		if at := on(begin.Year(), t.Month(), t.Day()); at.After(begin.AddDate(0, 0, -1)) {
			return at
		}
		return on(begin.Year()+1, t.Month(), t.Day())
	}
	return time.Time{}
}
