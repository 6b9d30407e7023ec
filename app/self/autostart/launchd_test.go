package autostart

import "testing"

func TestIsDisabled(t *testing.T) {
	const answer = "\n\tdisabled services = {\n\t\t\"com.example.helper\" => enabled\n\t\t\"io.github.rollcall.Rollcall\" => disabled\n" +
		"\t\t\"rollcall.keep\" => false\n\t\t\"old.style\" => true\n\t}\n\tlogin item associations = {\n\t}\n"
	for label, want := range map[string]bool{
		"io.github.rollcall.Rollcall": true, "old.style": true, "rollcall.keep": false, "com.example.helper": false, "rollcall": false, "not.there": false,
	} {
		if got := isDisabled(answer, label); got != want {
			t.Errorf("%s: %v", label, got)
		}
	}
	if isDisabled("", "io.github.rollcall.Rollcall") {
		t.Error("turned off by an empty answer")
	}
}
