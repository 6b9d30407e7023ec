package present

import (
	"fmt"
	"time"

	"github.com/dustin/go-humanize/english"

	"rollcall/adapters"
)

// Background returns what goes on in a session although its turn is over: "2 commands run", "wakes at 14:30".
func Background(s *adapters.State) (words []string) {
	if n := Commands(s); n > 0 {
		words = append(words, english.Plural(n, "command", "")+english.PluralWord(n, " runs", " run"))
	}
	var wakes time.Time
	for _, b := range s.Background {
		if b.Kind == adapters.WakeUp && (wakes.IsZero() || b.At.Before(wakes)) {
			wakes = b.At
		}
	}
	if !wakes.IsZero() {
		words = append(words, "wakes at "+wakes.Local().Format("15:04"))
	}
	return words
}

// span returns a time in whole minutes, or in seconds where it is shorter than one.
func span(d time.Duration) string {
	if d < time.Minute {
		return fmt.Sprintf("%d s", int(d/time.Second))
	}
	return fmt.Sprintf("%d min", int(d/time.Minute))
}

// Commands returns how many commands run in the background of a session.
func Commands(s *adapters.State) (n int) {
	for _, b := range s.Background {
		if b.Kind == adapters.Running {
			n++
		}
	}
	return n
}
