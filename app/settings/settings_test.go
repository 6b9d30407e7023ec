package settings

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"rollcall/internal/must"
)

func write(t *testing.T, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "config.toml")
	must.Do(t, os.WriteFile(path, []byte(text), 0o600))
	return path
}

func TestNoFile(t *testing.T) {
	s, err := Load(filepath.Join(t.TempDir(), "none", "config.toml"))
	if err != nil || !cmp.Equal(s, Settings{}) {
		t.Errorf("%+v, %v; want nothing set and no error", s, err)
	}
}

func TestFull(t *testing.T) {
	path := write(t, `
[webhook]
url = "https://hook.example/x?y=z"
secret_file = "office.token"

[launch]
keep_env = true

[openclaw]
allow_plaintext = true

[[openclaw.gateway]]
name = "office"
url = "wss://claw.example:443/ws"
token_file = "office.token"

[[openclaw.gateway]]
url = "ws://127.0.0.1:18790"
token = "t-1"
`)
	must.Do(t, os.WriteFile(filepath.Join(filepath.Dir(path), "office.token"), []byte("  t-2\n"), 0o600))
	want := Settings{OpenClaw: OpenClaw{AllowPlaintext: true, Gateways: []Gateway{
		{Name: "office", URL: "wss://claw.example:443/ws", Token: "t-2", TokenFile: "office.token"},
		{URL: "ws://127.0.0.1:18790", Token: "t-1"},
	}}, Webhook: Webhook{URL: "https://hook.example/x?y=z", Secret: "t-2", SecretFile: "office.token"}, Launch: Launch{KeepEnv: true}}
	got := must.Get(Load(path))(t)
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
}

// Each mistake names the file and itself, what is right beside it is used, and
// no message has a token.
func TestMistakes(t *testing.T) {
	const good = "\n[[openclaw.gateway]]\nname = \"good\"\nurl = \"ws://127.0.0.1:1\"\n"
	for name, c := range map[string]struct {
		text  string
		says  string
		alone bool // nothing of the file can be used
	}{
		"no TOML":       {"[openclaw\nx = 1", "line 2", true},
		"wrong type":    {"[openclaw]\nallow_plaintext = \"yes\"", "allow_plaintext", true},
		"unknown key":   {"[openclaw]\nallow_plain = true" + good, `no setting "openclaw.allow_plain"`, false},
		"no url":        {"[[openclaw.gateway]]\nname = \"x\"\ntoken = \"hush\"" + good, `"x" is ignored: url is missing`, false},
		"http":          {"[[openclaw.gateway]]\nurl = \"http://h:1\"" + good, "ws:// or wss://", false},
		"token in url":  {"[[openclaw.gateway]]\nurl = \"ws://h:1/?token=hush\"" + good, "set token instead", false},
		"user in url":   {"[[openclaw.gateway]]\nurl = \"ws://u:hush@h:1/\"" + good, "set token instead", false},
		"bad url":       {"[[openclaw.gateway]]\nurl = \"ws://h:hush\"" + good, "not a valid URL", false},
		"two tokens":    {"[[openclaw.gateway]]\nurl = \"ws://h:1\"\ntoken = \"hush\"\ntoken_file = \"f\"" + good, "remove one of them", false},
		"hook's url":    {"[webhook]\nurl = \"ftp://h\"" + good, "the webhook is ignored: url must begin", false},
		"hook's secret": {"[webhook]\nurl = \"http://h\"\nsecret_file = \"nowhere\"" + good, "the webhook is ignored: ", false},
		"only a secret": {"[webhook]\nsecret = \"hush\"" + good, "it has a secret but no url", false},
		"a price":       {"[prices.\"m/x\"]\ninput = -1\n[prices.y]\ninput = 2" + good, `line 1: prices."m/x" is ignored: a price is 0 or more`, false},
		"agent's token": {"[agents.codex]\ntoken_file = \"f\"" + good, "agents.codex.token_file is ignored: this agent knows no token", false},
		"no agent's":    {"[agents.qwen]\ntoken_file = \"nowhere\"" + good, "agents.qwen.token_file is ignored: ", false},
		"no token file": {"[[openclaw.gateway]]\nname = \"y\"\nurl = \"ws://h:1\"\ntoken_file = \"nowhere\"" + good, `token of gateway "y"`, false},
	} {
		t.Run(name, func(t *testing.T) {
			path := write(t, c.text)
			s, err := Load(path)
			if err == nil || !strings.Contains(err.Error(), c.says) || !strings.Contains(err.Error(), path) {
				t.Fatalf("error %v; want %q and the file's name", err, c.says)
			}
			if strings.Contains(err.Error(), "hush") {
				t.Errorf("the message has the token: %v", err)
			}
			n := len(s.OpenClaw.Gateways)
			if c.alone && n != 0 || !c.alone && s.OpenClaw.Gateways[n-1].Name != "good" {
				t.Errorf("gateways %+v", s.OpenClaw.Gateways)
			}
		})
	}
}

func TestNoSettingsFile(t *testing.T) {
	dir := t.TempDir()
	if _, err := Load(dir); err == nil || !strings.Contains(err.Error(), dir) {
		t.Errorf("a folder: %v", err)
	}
	big := write(t, strings.Repeat("#", maxSize+1))
	if _, err := Load(big); err == nil || !strings.Contains(err.Error(), "1 MB") {
		t.Errorf("a huge file: %v", err)
	}
}

func FuzzLoad(f *testing.F) {
	f.Add("[openclaw]\nallow_plaintext = true\n[[openclaw.gateway]]\nurl = \"ws://h:1\"")
	f.Add("[[openclaw.gateway]]\nurl = \"ws://h:\\u0000\"")
	f.Fuzz(func(t *testing.T, text string) {
		if strings.Contains(text, "_file") {
			t.Skip("reads a file of any name")
		}
		s, err := Load(write(t, text))
		for _, g := range s.OpenClaw.Gateways {
			if g.check() != nil {
				t.Errorf("%+v is used, error %v", g, err)
			}
		}
	})
}

// TestWebhookFromTheEnvironment: each variable replaces its part of the file, and the parts are checked together.
func TestWebhookFromTheEnvironment(t *testing.T) {
	for name, c := range map[string]struct {
		file        string // "": there is none
		url, secret string
		want        Webhook
		says        string
	}{
		"no file":            {"", "https://a.example/h", "s", Webhook{URL: "https://a.example/h", Secret: "s"}, ""},
		"address alone":      {"", "http://a.example", "", Webhook{URL: "http://a.example"}, ""},
		"secret alone":       {"", "", "s", Webhook{}, "a secret but no url"},
		"both replaced":      {"[webhook]\nurl = \"https://b.example\"\nsecret = \"t\"\n", "https://a.example", "s", Webhook{URL: "https://a.example", Secret: "s"}, ""},
		"the file's secret":  {"[webhook]\nsecret = \"t\"\n", "https://a.example", "", Webhook{URL: "https://a.example", Secret: "t"}, ""},
		"the file's address": {"[webhook]\nurl = \"https://b.example\"\n", "", "s", Webhook{URL: "https://b.example", Secret: "s"}, ""},
		"a secret file":      {"[webhook]\nurl = \"https://b.example\"\nsecret_file = \"none\"\n", "", "s", Webhook{URL: "https://b.example", Secret: "s"}, ""},
		"a missing secret":   {"[webhook]\nsecret_file = \"none\"\n", "https://a.example", "", Webhook{}, "none"},
		"a broken file":      {"[webhook\n", "https://a.example", "s", Webhook{}, "the whole file is ignored"},
		"no address":         {"", "ftp://a.example/token", "s", Webhook{}, "ROLLCALL_WEBHOOK_URL"},
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "config.toml")
			if c.file != "" {
				path = write(t, c.file)
			}
			t.Setenv(WebhookURL, c.url)
			t.Setenv(WebhookSecret, c.secret)
			s, err := Load(path)
			s.Webhook.SecretFile = ""
			if s.Webhook != c.want || (err != nil) != (c.says != "") {
				t.Errorf("%+v, %v", s.Webhook, err)
			}
			if err != nil && (!strings.Contains(err.Error(), c.says) || strings.Contains(err.Error(), "/token")) {
				t.Errorf("%v", err)
			}
		})
	}
}
