package settings

import "fmt"

// Answering is which requests of agents may be answered from Rollcall. Without a value it is AnswerAll.
type Answering string

// The values of the setting "answering".
const (
	AnswerAll  Answering = "on"        // allow once, deny, and answers to questions; the default
	AnswerDeny Answering = "deny-only" // only deny
	AnswerNone Answering = "off"       // nothing is answered
)

// unusable are the settings of a file that can't be read. Nothing is answered and nothing is kept in the cache then: the file
// may forbid it.
var unusable = Settings{Answering: AnswerNone, Cache: new(bool)}

// checkAnswering returns what is wrong with the setting "answering". Rollcall then answers nothing: who wrote the
// setting wanted less than the default.
func (s *Settings) checkAnswering() []mistake {
	switch s.Answering {
	case "", AnswerAll, AnswerDeny, AnswerNone:
	default:
		bad := mistake{[]string{"answering"}, fmt.Sprintf("answering is %q; use %q, %q or %q. Until then nothing is answered from here", s.Answering, AnswerAll, AnswerDeny, AnswerNone)}
		s.Answering = AnswerNone
		return []mistake{bad}
	}
	return nil
}
