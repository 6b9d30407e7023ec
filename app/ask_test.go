package app

import (
	"testing"

	"rollcall/adapters"
)

// What counts for a session shows only among all sessions: a second question about some of them keeps it.
func TestSecondAnswerKeepsUsage(t *testing.T) {
	one := adapters.Session{ID: "one", Spent: adapters.Spent{Usage: []adapters.Usage{{Answers: 1}}}}
	a := answer{Answer: Answer{Sessions: []adapters.Session{one, {ID: "two"}}}}
	a.add(answer{Answer: Answer{IDs: []string{"one", "two"}, Sessions: []adapters.Session{{
		ID:    "one",
		Topic: adapters.Topic{Title: "again"},
		Spent: adapters.Spent{Usage: []adapters.Usage{{Answers: 9}}},
	}}}})
	if len(a.Sessions) != 1 || a.Sessions[0].Title != "again" || len(a.Sessions[0].Usage) != 1 || a.Sessions[0].Usage[0].Answers != 1 {
		t.Errorf("%+v", a.Sessions)
	}
}
