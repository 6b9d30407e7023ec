package modelserver

import (
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"testing"

	"rollcall/internal/must"
)

// The Gemini API: a stream, a call of a tool, the result of one, and a request beside the conversation.
func TestGemini(t *testing.T) {
	s := must.Get(Start("127.0.0.1:0"))(t)
	defer s.Close()
	ask := func(call, body string) string {
		t.Helper()
		answer := must.Get(http.Post(s.URL()+"/v1beta/models/m:"+call, "application/json", strings.NewReader(body)))(t)
		defer answer.Body.Close()
		var text strings.Builder
		var one struct {
			Candidates []struct {
				Content struct {
					Parts []json.RawMessage `json:"parts"`
				} `json:"content"`
			} `json:"candidates"`
		}
		data, err := io.ReadAll(answer.Body)
		if err == nil {
			err = json.Unmarshal([]byte(strings.TrimPrefix(string(data), "data: ")), &one)
		}
		if err != nil {
			t.Fatalf("%s: %v", data, err)
		}
		for _, c := range one.Candidates {
			for _, p := range c.Content.Parts {
				text.Write(p)
			}
		}
		return text.String()
	}
	const tools = `"tools":[{"functionDeclarations":[{"name":"run_shell_command"}]}]`
	for _, c := range []struct{ call, body, want string }{
		{"streamGenerateContent?alt=sse", `{"contents":[{"role":"user","parts":[{"text":"<session_context> x"}]},{"role":"user","parts":[{"text":"hi"}]}],` + tools + `}`, "Mock answer to: hi"},
		{"streamGenerateContent?alt=sse", `{"contents":[{"role":"user","parts":[{"text":"[[bash touch x]]"}]}],` + tools + `}`, `"command":"touch x"`},
		{"streamGenerateContent?alt=sse", `{"contents":[{"role":"user","parts":[{"text":"[[bash touch x]]"}]},{"role":"user","parts":[{"functionResponse":{}}]}],` + tools + `}`, "Done."},
		{"generateContent", `{"contents":[{"role":"user","parts":[{"text":"hi"}]}],"generationConfig":{"responseJsonSchema":{"properties":{"score":{"type":"integer"}}}}}`, `{\"score\":1}`},
	} {
		if got := ask(c.call, c.body); !strings.Contains(got, c.want) {
			t.Errorf("%s: %s, want %s", c.body, got, c.want)
		}
	}
}
