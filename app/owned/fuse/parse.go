package fuse

import (
	"errors"
	"strings"
	"time"
)

// ParseIn parses a duration as a user writes it: "45m", "2 h", "90" (minutes).
func ParseIn(text string) (time.Duration, error) {
	text = strings.ToLower(strings.ReplaceAll(strings.TrimSpace(text), " ", ""))
	if text != "" && strings.Trim(text, "0123456789") == "" {
		text += "m"
	}
	d, err := time.ParseDuration(text)
	if err != nil || d <= 0 {
		return 0, errors.New("the duration cannot be read; write it like 45m, 2h or 1h30m")
	}
	return d, nil
}
