package settings

import (
	"runtime"
	"testing"
)

// drive makes a path that begins with a slash absolute on Windows, too.
var drive = map[bool]string{true: "C:"}[runtime.GOOS == "windows"]

func TestMetrics(t *testing.T) {
	for text, want := range map[string]Metrics{
		"listen = \"127.0.0.1:9417\"":                        {Listen: "127.0.0.1:9417"},
		"listen = \"[::1]:9417\"":                            {Listen: "[::1]:9417"},
		"listen = \"localhost:9417\"":                        {Listen: "localhost:9417"},
		"listen = \":9417\"":                                 {},
		"listen = \"0.0.0.0:9417\"":                          {},
		"listen = \"example.org:9417\"":                      {},
		"listen = \"127.0.0.1\"":                             {},
		"listen = \"127.0.0.1:0\"":                           {},
		"listen = \"0.0.0.0:9417\"\nallow_remote = true":     {Listen: "0.0.0.0:9417", AllowRemote: true},
		"textfile = \"" + drive + "/var/lib/x.prom\"":        {Textfile: drive + "/var/lib/x.prom"},
		"textfile = \"x.prom\"":                              {},
		"textfile = \"x.prom\"\nlisten = \"127.0.0.1:9417\"": {Listen: "127.0.0.1:9417"},
	} {
		s, err := Load(write(t, "[metrics]\n"+text))
		if s.Metrics != want || (err != nil) == want.IsSet() && text != "textfile = \"x.prom\"\nlisten = \"127.0.0.1:9417\"" {
			t.Errorf("%s: %+v, %v", text, s.Metrics, err)
		}
	}
}
