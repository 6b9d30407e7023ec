package settings

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// Notifications are the settings of notifications on the desktop.
type Notifications struct {
	// Permission, Question, Reply, Failed, Limit and Ended are how notifications of a kind are sent.
	Permission Manner `toml:"permission"`
	Question   Manner `toml:"question"`
	Reply      Manner `toml:"reply"`
	Failed     Manner `toml:"failed"`
	Limit      Manner `toml:"limit"`
	Ended      Manner `toml:"ended"`
	// ReplyAfter is the length of the shortest turn whose reply has a notification.
	ReplyAfter Duration `toml:"reply_after"`
	// Together is the time within which waits that follow each other share a notification.
	Together Duration `toml:"together"`
	// Pause is the shortest time between two notifications of a session whose state changes quickly.
	Pause Duration `toml:"pause"`
	// RemindAfter is the time after which the user is reminded of a wait.
	RemindAfter Duration `toml:"remind_after"`
	// WhenFocused sends notifications also of sessions whose window has the focus.
	WhenFocused bool `toml:"when_focused"`
	// Mute are the folders, with the folders below them, whose sessions have no notifications.
	Mute []string `toml:"mute"`
	// Sounds are the sounds of notifications with a sound, by kind or agent: a file, or a name of the desktop's sound theme (Linux).
	Sounds map[string]string `toml:"sounds"`
	// LimitAt are the shares of a usage limit, in per cent, at which the user is notified, once in each window.
	LimitAt []int `toml:"limit_at"`
	// OnWait is a shell command that is run for a session that has waited for OnWaitAfter.
	OnWait string `toml:"on_wait"`
	// OnWaitWebhook sends a message to the webhook for such a session.
	OnWaitWebhook bool     `toml:"on_wait_webhook"`
	OnWaitAfter   Duration `toml:"on_wait_after"`
}

// Manner is how notifications of a kind are sent: "on", "sound" or "off". The zero value is On.
type Manner string

// The values of the setting of a kind.
const (
	On        Manner = "on"    // without a sound
	WithSound Manner = "sound" // with a sound, where the desktop plays one
	Off       Manner = "off"
	// WhenNothingRuns, of replies alone, is On but for a session of which a command still runs: its reply is told when that is over.
	WhenNothingRuns Manner = "when nothing runs"
)

// Manners returns each Manner, in the order in which the settings page lists them.
func Manners() []Manner { return []Manner{On, WithSound, Off} }

// The defaults of durations.
const (
	DefaultReplyAfter  = 30 * time.Second
	DefaultTogether    = 2 * time.Second
	DefaultPause       = time.Minute
	DefaultOnWaitAfter = 2 * time.Minute
)

// maxDuration is far above any useful duration.
const maxDuration = 7 * 24 * time.Hour

// Duration is a time that the user wrote, such as "30s", or none.
type Duration struct {
	text string
	time time.Duration
}

// Or returns the duration, or the value of otherwise if the user wrote none.
func (d Duration) Or(otherwise time.Duration) time.Duration {
	if d.text == "" {
		return otherwise
	}
	return d.time
}

// String returns what the user wrote; empty: nothing.
func (d Duration) String() string { return d.text }

// Equal reports whether both are the same setting.
func (d Duration) Equal(o Duration) bool { return d == o }

// UnmarshalText implements encoding.TextUnmarshaler. It accepts every text; check returns what is wrong with it.
func (d *Duration) UnmarshalText(text []byte) error {
	d.text = string(text)
	d.time, _ = time.ParseDuration(d.text)
	return nil
}

func (d *Duration) check(key ...string) (mistake, bool) {
	if d.text == "" {
		return mistake{}, false
	}
	if t, err := time.ParseDuration(d.text); err == nil && t >= 0 && t <= maxDuration {
		return mistake{}, false
	}
	bad := mistake{key, fmt.Sprintf("%s is ignored: %q is not a time such as \"30s\", \"10m\" or \"1h\", of at most 7 days", strings.Join(key, "."), d.text)}
	*d = Duration{}
	return bad, true
}

// checkNotifications returns what is wrong with the settings of notifications, and with stalled_after, and removes those values.
func (s *Settings) checkNotifications() (bad []mistake) {
	n := &s.Notifications
	for name, m := range n.Manners() {
		if m == &n.Reply && *m == WhenNothingRuns {
			continue
		}
		if *m != "" && !slices.Contains(Manners(), *m) {
			bad = append(bad, mistake{[]string{"notifications", name}, fmt.Sprintf("notifications.%s is ignored: it is one of \"on\", \"sound\" and \"off\", not %q", name, *m)})
			*m = ""
		}
	}
	for name, d := range map[string]*Duration{"reply_after": &n.ReplyAfter, "together": &n.Together, "pause": &n.Pause,
		"remind_after": &n.RemindAfter, "on_wait_after": &n.OnWaitAfter} {
		if m, wrong := d.check("notifications", name); wrong {
			bad = append(bad, m)
		}
	}
	if m, wrong := s.StalledAfter.check("stalled_after"); wrong {
		bad = append(bad, m)
	}
	n.LimitAt = without(n.LimitAt, &bad, []string{"notifications", "limit_at"}, func(percent int) string {
		if percent < 1 || percent > 100 {
			return fmt.Sprintf(": %d is ignored: it is a share in per cent, from 1 to 100", percent)
		}
		return ""
	})
	n.Mute = without(n.Mute, &bad, []string{"notifications", "mute"}, func(pattern string) string {
		if _, err := filepath.Match(pattern, ""); err != nil || !filepath.IsAbs(ExpandHome(pattern)) {
			return fmt.Sprintf(": %q is ignored: it must be an absolute path or begin with ~/, and may have * and ?", pattern)
		}
		return ""
	})
	slices.SortFunc(bad, func(a, b mistake) int { return strings.Compare(a.text, b.text) })
	return bad
}

// Manners returns the manner of each kind of notification, by the key of the setting.
func (n *Notifications) Manners() map[string]*Manner {
	return map[string]*Manner{"permission": &n.Permission, "question": &n.Question, "reply": &n.Reply, "failed": &n.Failed, "limit": &n.Limit, "ended": &n.Ended}
}

// IsMuted reports whether sessions in a folder have no notifications.
func (n *Notifications) IsMuted(folder string) bool {
	for _, pattern := range n.Mute {
		pattern = filepath.Clean(ExpandHome(pattern))
		for dir := filepath.Clean(folder); ; dir = filepath.Dir(dir) {
			if ok, _ := filepath.Match(pattern, dir); ok {
				return true
			}
			if dir == filepath.Dir(dir) {
				break
			}
		}
	}
	return false
}

// ExpandHome replaces a leading ~ by the home folder.
func ExpandHome(path string) string {
	rest, ok := strings.CutPrefix(path, "~")
	if !ok || rest != "" && !os.IsPathSeparator(rest[0]) {
		return path
	}
	home, err := os.UserHomeDir()
	if err != nil {
		return path
	}
	return filepath.Join(home, rest)
}
