package settings

import (
	"path/filepath"
	"strings"
	"testing"

	"rollcall/adapters"
	"rollcall/internal/must"
)

// TestNamed: an agent of the settings becomes one that adapters show.
func TestNamed(t *testing.T) {
	s := must.Get(Load(write(t, `default_agent = "mine"
leave_out_agents = ["other"]
[[agent]]
name = "mine"
program = ["my-agent", "my-agent-cli"]
launch = ["--message", "{prompt}"]
title_waiting = "allow\\?$"
[[agent]]
name = "other"
program = "other-cli"
`)))(t)
	if len(s.Unread) != 2 || s.DefaultAgent != "mine" || len(s.LeftOutAgents) != 1 {
		t.Fatalf("%+v", s)
	}
	u := s.Unread[0]
	if u.Programs[1] != "my-agent-cli" || !u.CanLaunch() || u.Waiting == nil || u.Working != nil || s.Unread[1].CanLaunch() {
		t.Errorf("%+v", s.Unread)
	}
}

// TestNamedMistakes: each mistake is named with its line, and what to do; the other agents count.
func TestNamedMistakes(t *testing.T) {
	program := must.Get(filepath.Abs("/usr/bin/python3"))(t) // on Windows with a drive
	for entry, want := range map[string]string{
		`program = "x"`:    "line 3: agent \"\" is ignored: name is missing",
		`name = "X y"`:     "name must be 1 to 40 lower-case letters",
		`name = "process"`: "session ids begin with",
		`name = "` + string(adapters.Described()[0].Name) + `"`:                                              "it is " + adapters.Described()[0].Title + ", which Rollcall reads itself",
		`name = "x"` + "\nprogram = \"bash\"":                                                                `program "bash" runs scripts of all kinds`,
		`name = "x"` + "\nprogram = \"python3.11\"":                                                          "runs scripts of all kinds",
		`name = "x"` + "\nprogram = \"/usr/bin/x\"":                                                          "must be the name of a file, without its folder",
		`name = "x"` + "\nprogram = 3":                                                                       "program is a name",
		`name = "x"` + "\nprogram = [\"y\", \"" + adapters.Described()[0].Program + "\"]":                    "which Rollcall reads itself",
		`name = "x"` + "\nlaunch = [\"{session}\"]":                                                          "no placeholder {session}; there is {prompt}",
		`name = "x"` + "\ntitle_working = \"(\"":                                                             "title_working is no regular expression",
		`name = "x"` + "\nrows = [\"rows.py\"]":                                                              `rows must begin with the absolute path of a program, not "rows.py"`,
		`name = "x"` + "\nrows = ['" + program + "', \"~/" + adapters.Described()[0].Folders[0] + "/x.py\"]": "rows must name no file in " + adapters.Described()[0].Folders[0],
		`name = "good"`:                  `another agent has this name (see line 1)`,
		`name = "x"` + "\nfiles = \"y\"": `this version has no setting "agent.files"`,
	} {
		s, err := Load(write(t, "[[agent]]\nname = \"good\"\n[[agent]]\n"+entry+"\n"))
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %s", entry, err, want)
		}
		if !strings.Contains(entry, "files") && !strings.Contains(entry, "= 3") && (len(s.Unread) != 1 || len(s.Named) != 1) {
			t.Errorf("%s: %+v", entry, s.Unread)
		}
	}
}
