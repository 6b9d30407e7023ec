package updates

import (
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"rollcall/internal/must"
)

func TestNewest(t *testing.T) {
	for name, tt := range map[string]struct {
		status int
		body   string
		want   Release
		err    string
	}{
		"a release":      {200, `{"tag_name":"v0.2.0","html_url":"https://example.org/r/v0.2.0"}`, Release{"0.2.0", "https://example.org/r/v0.2.0"}, ""},
		"without the v":  {200, `{"tag_name":"0.2.0"}`, Release{Version: "0.2.0"}, ""},
		"a bad page":     {200, `{"tag_name":"v0.2.0","html_url":"javascript:alert(1)"}`, Release{Version: "0.2.0"}, ""},
		"no version":     {200, `{"tag_name":"latest"}`, Release{}, "tag_name must be like v0.2.0"},
		"two numbers":    {200, `{"tag_name":"v0.2"}`, Release{}, "tag_name must be like v0.2.0"},
		"escape codes":   {200, "{\"tag_name\":\"v0.2.0\\u001b[31m\"}", Release{}, "tag_name must be like v0.2.0"},
		"a page instead": {200, "<html>", Release{}, "not a JSON object"},
		"too large":      {200, strings.Repeat(" ", maxFeed+2), Release{}, "larger than 1 MB"},
		"a long version": {200, `{"tag_name":"v0.2.` + strings.Repeat("1", 100_000) + `"}`, Release{}, "tag_name must be like v0.2.0"},
		"a long page":    {200, `{"tag_name":"v0.2.0","html_url":"https://example.org/` + strings.Repeat("1", 100_000) + `"}`, Release{Version: "0.2.0"}, ""},
		"not found":      {404, "", Release{}, "it answered 404 Not Found"},
	} {
		var asked *http.Request
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			asked = r
			w.WriteHeader(tt.status)
			_, _ = w.Write([]byte(tt.body))
		}))
		got, err := Newest(t.Context(), server.URL+"/latest")
		server.Close()
		if got != tt.want || (err == nil) != (tt.err == "") || err != nil && !strings.Contains(err.Error(), tt.err) {
			t.Errorf("%s: %+v, %v", name, got, err)
		}
		if agent := asked.Header.Get("User-Agent"); agent != "rollcall" || asked.URL.RawQuery != "" || asked.Header.Get("Cookie") != "" {
			t.Errorf("%s: it was told %q of this machine, and %v", name, agent, asked.Header)
		}
	}
}

// A feed that leads to an unencrypted address on another machine is not followed.
func TestRedirect(t *testing.T) {
	server := httptest.NewServer(http.RedirectHandler("http://192.0.2.1/latest", http.StatusFound))
	defer server.Close()
	if _, err := Newest(t.Context(), server.URL); err == nil || !strings.Contains(err.Error(), "must begin with https://") {
		t.Error(err)
	}
}

func TestCheckFeed(t *testing.T) {
	for feed, ok := range map[string]bool{
		"https://example.org/latest": true, "http://127.0.0.1:1/latest": true,
		"http://example.org/latest": false, "http://localhost.example.org": false, "file:///etc/passwd": false, "https://": false, "": false,
		"https://user:secret@example.org/": false, "https://example.org/%zz": false,
	} {
		if err := CheckFeed(feed); (err == nil) != ok {
			t.Errorf("%s: %v", feed, err)
		}
	}
}

func TestIsNewer(t *testing.T) {
	for current, want := range map[string][2]bool{
		"0.1.0": {true, true}, "v0.1.9": {true, true}, "0.2.0": {false, true}, "0.3.0": {false, true}, "v0.2.0-rc1": {true, true},
		"v0.1.0-3-gabcdef0": {true, true}, "v0.2.0-3-gabcdef0": {false, true}, "v0.2.0-3-gabcdef0-dirty": {false, true}, "v0.1.0-dirty": {true, true},
		"abcdef0": {}, "(devel)": {}, "": {}, "dev": {},
	} {
		newer, known := Release{Version: "0.2.0"}.IsNewer(current)
		if [2]bool{newer, known} != want {
			t.Errorf("%q: %v, %v", current, newer, known)
		}
	}
}

// TestLongError: what a server that speaks no HTTP sends is shown in part.
func TestLongError(t *testing.T) {
	l := must.Get(net.Listen("tcp", "127.0.0.1:0"))(t)
	defer l.Close()
	go func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			_, _ = io.WriteString(conn, strings.Repeat("x", 100_000)+"\r\n\r\n")
			_ = conn.Close()
		}
	}()
	if _, err := Newest(t.Context(), "http://"+l.Addr().String()); err == nil || len(err.Error()) > 1000 {
		t.Errorf("%.1000v", err)
	}
}
