package present

import "testing"

// TestOption: no name of a protocol is shown; what is a label already stays as it is.
func TestOption(t *testing.T) {
	for name, want := range map[string]string{
		"accept": "Allow once", "acceptForSession": "Allow for this session", "acceptWithExecpolicyAmendment": "Allow, and commands that begin like it from now on",
		"cancel": "Deny, and end the turn", "once": "Allow once", "reject": "Deny", "allow-once": "Allow once", "allow_always": "Always allow",
		"approvedForSomethingNew": "Approved for something new", "some_other_word": "Some other word",
		"Yes, and don't ask again": "Yes, and don't ask again", "Yes": "Yes", "Ja, für immer": "Ja, für immer", "": "",
	} {
		if got := Option(name); got != want {
			t.Errorf("%q: %q, want %q", name, got, want)
		}
	}
}

// TestIsolate: a text with letters from right to left can't reorder what is around it; any other text stays as it is.
func TestIsolate(t *testing.T) {
	for text, want := range map[string]string{"": "", "npm test": "npm test", "翻译": "翻译", "تمت 214 done": "\u2068تمت 214 done\u2069", "עברית": "\u2068עברית\u2069"} {
		if got := Isolate(text); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}
