//go:build linux

package desktoptest

import (
	"bufio"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// The version of the configuration is stated, or the panel would ask at its
// first start which one to use.
const xfcePanelConfig = `<?xml version="1.0" encoding="UTF-8"?>
<channel name="xfce4-panel" version="1.0">
  <property name="configver" type="int" value="2"/>
  <property name="panels" type="array">
    <value type="int" value="1"/>
    <property name="dark-mode" type="bool" value="%t"/>
    <property name="panel-1" type="empty">
      <property name="position" type="string" value="p=6;x=0;y=0"/>
      <property name="length" type="uint" value="100"/>
      <property name="length-adjust" type="bool" value="false"/>
      <property name="position-locked" type="bool" value="true"/>
      <property name="size" type="uint" value="%d"/>
      <property name="icon-size" type="uint" value="22"/>
      <property name="plugin-ids" type="array">
        <value type="int" value="1"/>
      </property>
    </property>
  </property>
  <property name="plugins" type="empty">
    <property name="plugin-1" type="string" value="systray">
      <property name="hide-new-items" type="bool" value="false"/>
      <property name="square-icons" type="bool" value="true"/>
    </property>
  </property>
</channel>
`

const lxqtPanelConfig = `[General]
__userfile__=true
panels=panel1
iconTheme=Adwaita

[panel1]
plugins=statusnotifier
position=Top
desktop=0
panelSize=%d
iconSize=22
width=100
width-percent=true
alignment=-1
hidable=false
animation-duration=0

[statusnotifier]
type=statusnotifier
alignment=Left
`

const dunstConfig = `[global]
    monitor = 0
    follow = none
    origin = top-right
    offset = 10x%d
    width = (280, 420)
    height = 300
    notification_limit = 10
    font = DejaVu Sans 10
    markup = full
    format = "<b>%%s</b>\n%%b"
    frame_width = 1
    frame_color = "#888888"
    mouse_left_click = do_action, close_current
    mouse_right_click = close_current
    idle_threshold = 0
[urgency_low]
    background = "%[2]s"
    foreground = "%[3]s"
    timeout = 10
[urgency_normal]
    background = "%[2]s"
    foreground = "%[3]s"
    timeout = 10
[urgency_critical]
    background = "%[2]s"
    foreground = "%[3]s"
    timeout = 0
`

func (d *Desktop) dunstConfig() string { return filepath.Join(d.dir, "dunstrc") }

func (d *Desktop) writeConfig() error {
	back, front := "#f5f5f5", "#202020"
	if d.opts.Dark {
		back, front = "#202020", "#f0f0f0"
	}
	config := filepath.Join(d.home, ".config")
	files := map[string]string{
		d.dunstConfig(): fmt.Sprintf(dunstConfig, panelHeight+10, back, front),
		filepath.Join(config, "xfce4/xfconf/xfce-perchannel-xml/xfce4-panel.xml"): fmt.Sprintf(xfcePanelConfig, d.opts.Dark, panelHeight),
		filepath.Join(config, "lxqt/panel.conf"):                                  fmt.Sprintf(lxqtPanelConfig, panelHeight),
		filepath.Join(config, "lxqt/lxqt.conf"):                                   fmt.Sprintf("[General]\n__userfile__=true\nicon_theme=Adwaita\ntheme=%s\n", lxqtTheme(d.opts.Dark)),
	}
	for _, dir := range []string{".config", ".local/share", ".local/state", ".cache", "../run"} {
		if err := os.MkdirAll(filepath.Join(d.home, dir), 0o700); err != nil {
			return err
		}
	}
	for path, text := range files {
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			return err
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			return err
		}
	}
	return nil
}

func lxqtTheme(dark bool) string {
	if dark {
		return "dark"
	}
	return "light"
}

// xfconfd returns the path of xfce's settings daemon, as its package states it.
func xfconfd() (string, error) {
	f, err := os.Open(xfconfService)
	if err != nil {
		return "", err
	}
	defer f.Close()
	lines := bufio.NewScanner(f)
	for lines.Scan() {
		if program, ok := strings.CutPrefix(lines.Text(), "Exec="); ok {
			return program, nil
		}
	}
	return "", fmt.Errorf("%s: names no program", xfconfService)
}
