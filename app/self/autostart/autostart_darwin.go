package autostart

import (
	"bytes"
	"encoding/xml"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// file returns the LaunchAgent of an entry.
func (e Entry) file() (*file, error) {
	home, err := os.UserHomeDir()
	if err != nil {
		return nil, err
	}
	label := "io.github.rollcall.Rollcall"
	arguments := ""
	more := "\t<key>LimitLoadToSessionType</key><string>Aqua</string>\n"
	if e == Keeper {
		label = "rollcall.keep"
		arguments = "<string>keep</string>"
		more = ""
	}
	return &file{
		path: filepath.Join(home, "Library", "LaunchAgents", label+".plist"),
		// Without AbandonProcessGroup the agents, and the window, would end with what started them.
		text: func(program string) string {
			return fmt.Sprintf(`<?xml version="1.0" encoding="UTF-8"?>
<!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" "http://www.apple.com/DTDs/PropertyList-1.0.dtd">
<plist version="1.0">
<dict>
	<key>Label</key><string>%s</string>
	<key>ProgramArguments</key><array><string>%s</string>%s</array>
	<key>RunAtLoad</key><true/>
	<key>AbandonProcessGroup</key><true/>
%s</dict>
</plist>
`, label, escape(program), arguments, more)
		},
		program: func(text string) string {
			_, rest, _ := strings.Cut(text, "<array><string>")
			program, _, ok := strings.Cut(rest, "</string>")
			if !ok {
				return ""
			}
			var s string
			if err := xml.Unmarshal([]byte("<s>"+program+"</s>"), &s); err != nil {
				return ""
			}
			return s
		},
		turnedOff: func() bool {
			output, _ := exec.Command("/bin/launchctl", "print-disabled", domain()).Output()
			return isDisabled(string(output), label)
		},
		turnOn: func() error {
			output, err := exec.Command("/bin/launchctl", "enable", domain()+"/"+label).CombinedOutput()
			if err != nil {
				return fmt.Errorf("System Settings turned it off, and it could not be turned on: %s", bytes.TrimSpace(output))
			}
			return nil
		},
	}, nil
}

// domain returns launchd's name of this user's login session.
func domain() string { return fmt.Sprintf("gui/%d", os.Getuid()) }

func escape(text string) string {
	var b bytes.Buffer
	_ = xml.EscapeText(&b, []byte(text)) // writing to a buffer never fails
	return b.String()
}
