package pistore

import (
	"rollcall/adapters"
	"rollcall/adapters/internal/kit"
)

// What follows is for the adapter of oh-my-pi, which writes Pi's messages into files of its own form (18.2.3).

// ContentText returns the texts of a message's content.
func ContentText(raw []byte, limit int) string { return contentText(raw, limit) }

// UsageOf returns the tokens and the cost that a message's usage states.
func UsageOf(raw []byte) (adapters.Tokens, float64) {
	var r record
	r.setUsage(raw)
	return r.usage.Tokens, r.usage.cost
}

// Argument returns the most descriptive argument of a call.
func Argument(raw []byte) string { return argument(raw) }

// Items returns the messages, calls and results of an entry.
func Items(line []byte, limit kit.Limit) []kit.Item {
	var f fields
	if f.read(line) != nil {
		return nil
	}
	return f.items(limit)
}
