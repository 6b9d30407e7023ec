package claudecode

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"rollcall/adapters"
	"rollcall/adapters/internal/pane"
)

const asksTool = `{"type":"control_request","request_id":"r","request":{"subtype":"can_use_tool","tool_name":"Bash","input":{"command":"ls"},"tool_use_id":"t"}}`

// A request over stream-json with a member that is not known can only be denied.
func TestUnknownMembers(t *testing.T) {
	asksUser := strings.NewReplacer("Bash", questionTool, `{"command":"ls"}`, `{"questions":[{"question":"Which?","header":"","options":[{"label":"Red","description":"","runs":"rm"}]}]}`).Replace(asksTool)
	for line, member := range map[string]string{
		strings.Replace(asksTool, `"subtype"`, `"environment":{"A":"b"},"subtype"`, 1): "request.environment",
		strings.Replace(asksTool, `"request_id"`, `"host":"far","request_id"`, 1):      "host",
		asksUser: "input.questions[].options[].runs",
	} {
		talk := (&Adapter{}).Talk()
		talk.Read([]byte(line))
		list := talk.Waiting()
		if len(list) != 1 || !slices.Equal(list[0].Unknown, []string{member}) || list[0].CanAllow || !list[0].CanDeny {
			t.Fatalf("%s: %+v", line, list)
		}
		for _, d := range []adapters.Decision{{Verdict: adapters.AllowOnce}, {Verdict: adapters.Reply, Answers: [][]string{{"Red"}}}} {
			if _, err := talk.Answer("r", d); !errors.Is(err, adapters.ErrNotAllowed) || !strings.Contains(err.Error(), member) {
				t.Errorf("%s: %v", line, err)
			}
		}
		if _, err := talk.Answer("r", adapters.Decision{Verdict: adapters.Deny}); err != nil {
			t.Errorf("%s: %v", line, err)
		}
	}
	talk := (&Adapter{}).Talk()
	talk.Read([]byte(strings.Replace(asksTool, `"subtype"`, `"blocked_path":"/etc","title":"x","permission_suggestions":[{"type":"addRules"}],"subtype"`, 1)))
	if list := talk.Waiting(); len(list) != 1 || !slices.Equal(list[0].Details, []adapters.Detail{{Title: "Path that needs the permission", Text: "/etc"}}) || !list[0].CanAllow {
		t.Errorf("%+v", list)
	}
}

// A call in a transcript with a member that is not known can only be denied in its pane.
func TestUnknownMemberOfCall(t *testing.T) {
	rule, dots := strings.Repeat("─", 100), strings.Repeat("╌", 100)
	dialog, _ := pane.FindDialog([]string{rule, " Bash command", dots, " touch a", dots, " Do you want to proceed?", " ❯ 1. Yes", "   2. No"})
	for member, want := range map[string][]string{"": nil, `,"caller":{"type":"direct"}`: nil, `,"host":"far"`: {"host"}} {
		p := &permissionPrompt{pane: noPane{}, dialog: dialog}
		p.request.CanAllow = true
		raw := []byte(`{"type":"tool_use","id":"1","name":"Bash","input":{"command":"touch a"}` + member + `}`)
		err := p.describe([]openCall{{id: "1", name: bashTool, input: `{"command":"touch a"}`, command: "touch a", raw: raw}}, entry{})
		if err != nil || !slices.Equal(p.request.Unknown, want) || p.request.CanAllow != (want == nil) {
			t.Errorf("%s: %+v, %v", member, p.request, err)
		}
	}
}
