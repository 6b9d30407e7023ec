package kit

import "testing"

// TestArgumentOfQuestion: a call that asks the user is described by its question, not by its JSON.
func TestArgumentOfQuestion(t *testing.T) {
	for input, want := range map[string]string{
		`{"questions":[{"id":"q","question":"Which region?","options":[]},{"question":"And then?"}]}`: "Which region?",
		`{"command":"ls","questions":[{"question":"Which region?"}]}`:                                 "ls",
		`{"questions":"none"}`: "",
	} {
		if got := Argument([]byte(input), []string{"command"}, Shown.Text); got != want {
			t.Errorf("%s: %q, want %q", input, got, want)
		}
	}
}
