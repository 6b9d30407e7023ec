package adapters

import (
	"context"
	"time"

	"rollcall/textmatch"
)

// Searcher is implemented by adapters whose conversations can be searched. They are read
// as they are on disk at that moment: there is no index and no copy.
type Searcher interface {
	// Conversations lists the conversations of the sessions that changed since a time (zero:
	// all), in any order, without reading them. Like Discover it may return conversations and
	// an error, which says what is missing; ErrAbsent alone means that the agent isn't
	// installed.
	Conversations(ctx context.Context, since time.Time) ([]Conversation, error)
}

// Conversation is what is searched at once: the messages of one session, or of several in
// one database.
type Conversation struct {
	// Changed is when the newest of its sessions changed last.
	Changed time.Time
	// Search calls found for each message with the pattern, those of one session in the
	// order of the conversation. It returns found's error at once, and ctx's soon after ctx
	// is done. skipped counts what could not be searched, by a short reason. Any other
	// error says what is missing. Search is safe for concurrent use with those of other
	// conversations.
	Search func(ctx context.Context, q *SearchQuery, found func(Hit) error) (skipped map[string]int, err error)
}

// SearchQuery describes a search.
type SearchQuery struct {
	Pattern *textmatch.Pattern
	// Tools adds what tools were called with and what they answered. Without it, only
	// what the user and the agent said is searched.
	Tools bool
}

// Hit is one message with the pattern. Its texts come from the agent unchanged and are
// untrusted.
type Hit struct {
	Session string
	CWD     string    // the session's, as far as the conversation says it
	Changed time.Time // when the session changed last
	Key     string    // of the message, as Peeker gives it
	Role    Role
	Tool    string    // with FromTool: the tool's name, where the record with the match has it
	At      time.Time // zero where the agent doesn't record it
	// Part is the line in which the pattern occurs first in the message, each piece at
	// most HitText bytes.
	textmatch.Part
}

// HitText bounds each piece of a hit's line, in bytes.
const HitText = 400
