package keep

import (
	"bytes"
	"encoding/xml"
	"fmt"
	"os"
	"path/filepath"

	"rollcall/app/owned"
)

// label names the LaunchAgent.
const label = "rollcall.keep"

func agentPath() (string, error) {
	home, err := os.UserHomeDir()
	return filepath.Join(home, "Library", "LaunchAgents", label+".plist"), err
}

// Install makes the system start the keeper when the user logs in, with a LaunchAgent.
func Install() (i Installation, err error) {
	program, err := programPath()
	if err != nil {
		return i, err
	}
	path, err := agentPath()
	if err != nil {
		return i, err
	}
	var escaped bytes.Buffer
	if err := xml.EscapeText(&escaped, []byte(program)); err != nil {
		return i, err
	}
	// Without AbandonProcessGroup the agents would end with their keeper.
	text := fmt.Sprintf(`<?xml version="1.0" encoding="UTF-8"?>
<!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" "http://www.apple.com/DTDs/PropertyList-1.0.dtd">
<plist version="1.0">
<dict>
	<key>Label</key><string>%s</string>
	<key>ProgramArguments</key><array><string>%s</string><string>keep</string></array>
	<key>RunAtLoad</key><true/>
	<key>AbandonProcessGroup</key><true/>
</dict>
</plist>
`, label, escaped.String())
	return i, i.write(path, text)
}

// Installed reports whether the keeper is started at login.
func Installed() bool {
	path, err := agentPath()
	return err == nil && !owned.Missing(path)
}

// Uninstall undoes Install.
func Uninstall() (i Installation, err error) {
	path, err := agentPath()
	if err != nil {
		return i, err
	}
	return i, i.remove(path)
}
