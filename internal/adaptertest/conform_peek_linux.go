package adaptertest

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"rollcall/adapters"
)

// peek: the end of a conversation, oldest first, with stable keys.
func peek(c *check) {
	peeker, can := c.adapter.(adapters.Peeker)
	c.needs(can, "it shows no conversations")
	all := c.cast()
	talker := all[1] // idle
	for n := range 6 {
		talker.Prompt(fmt.Sprintf("question %d", n))
		talker.Answer(fmt.Sprintf("reply %d %s", n, strings.Repeat("é", n*4000)))
	}
	sessions, _ := c.fine(adapters.Query{})
	c.expect(sessions, all...)
	s := sessions[talker.ID]
	whole := c.messages(peeker, s, 100)
	var said []string
	for _, m := range whole {
		if m.Role == adapters.FromUser {
			said = append(said, m.Text)
		}
	}
	if want := []string{"prompt 2", "question 0", "question 1", "question 2", "question 3", "question 4", "question 5"}; !slices.Equal(said, want) {
		c.Errorf("the user said %q, want %q", said, want)
	}
	for range 5 {
		talker.Strange() // it hides nothing that was said before it
	}
	for _, n := range []int{1, 2, 3, len(whole), len(whole) + 5} {
		part := c.messages(peeker, s, n)
		if want := whole[max(0, len(whole)-n):]; !slices.Equal(part, want) {
			c.Errorf("the last %d are %d: %s\nwant %s", n, len(part), keys(part), keys(want))
		}
	}
	for _, n := range []int{0, -1} {
		if some, _ := peeker.Peek(c.Context(), s, n); len(some) > 0 {
			c.Errorf("asked for %d messages, got %d", n, len(some))
		}
	}
	talker.Prompt("one more")
	later := c.messages(peeker, s, 100)
	if len(later) <= len(whole) || !slices.Equal(later[:len(whole)], whole) {
		c.Errorf("after one more prompt the messages are %s, were %s", keys(later), keys(whole))
	} else if last := later[len(whole)]; last.Role != adapters.FromUser || last.Text != "one more" {
		c.Errorf("one more is %q from %s", last.Text, last.Role)
	}
	for _, s := range sessions { // every state
		c.messages(peeker, s, 20)
	}
	strange := adapters.Session{ID: "nobody", Agent: c.adapter.Name()}
	if messages, err := peeker.Peek(c.Context(), strange, 5); err == nil {
		c.Errorf("a session that isn't there has %d messages, and no error", len(messages))
	}
	strange.Files = []string{c.environment.Path("nowhere", "nobody.jsonl")}
	if messages, err := peeker.Peek(c.Context(), strange, 5); err == nil {
		c.Errorf("a session without its file has %d messages, and no error", len(messages))
	}
}

// messages holds what goes for all messages.
func (c *check) messages(p adapters.Peeker, s adapters.Session, n int) []adapters.Message {
	c.Helper()
	ctx, cancel := context.WithTimeout(c.Context(), patience)
	defer cancel()
	messages, err := p.Peek(ctx, s, n)
	if err != nil {
		c.Errorf("Peek %s: %v", s.ID, err)
	}
	if len(messages) > n {
		c.Errorf("asked for %d messages, got %d", n, len(messages))
	}
	seen := map[string]bool{}
	for i, m := range messages {
		if m.Key == "" || seen[m.Key] {
			c.Errorf("message %d has the key %q, which is empty or another's", i, m.Key)
		}
		seen[m.Key] = true
		if !slices.Contains([]adapters.Role{adapters.FromUser, adapters.FromAgent, adapters.FromTool, adapters.FromNote}, m.Role) {
			c.Errorf("message %d is from %q", i, m.Role)
		}
		if (m.Role == adapters.FromTool) != (m.Tool != "") || (m.Role == adapters.FromTool) != (m.State != "") {
			c.Errorf("message %d from %s has tool %q, %q", i, m.Role, m.Tool, m.State)
		}
		if len(m.Text) > adapters.MaxText {
			c.Errorf("message %d has %d bytes", i, len(m.Text))
		}
		if i > 0 && !m.At.IsZero() && m.At.Before(messages[i-1].At) {
			c.Errorf("message %d is of %v, the one before of %v", i, m.At, messages[i-1].At)
		}
	}
	return messages
}

func keys(messages []adapters.Message) string {
	var all []string
	for _, m := range messages {
		all = append(all, fmt.Sprintf("%s %s %.20q", m.Key, m.Role, m.Text))
	}
	return fmt.Sprintf("%q", all)
}
