package openclaw_test

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"rollcall/adapters"
	"rollcall/internal/gatewaytest"
)

// What an approval sets or covers beside its command is shown and in its key (2026.9.6).
func TestEnvironmentIsShown(t *testing.T) {
	g, a, s, id := asked(t, gatewaytest.Options{}, "git status")
	plain := pendingOne(t, a, s)
	if len(plain.Details) > 0 || len(plain.Unknown) > 0 {
		t.Errorf("%+v", plain)
	}
	g.Answer(id)
	g.AskWith("agent:main:k", "git status", map[string]any{"commandArgv": []string{"git", "status"}, "envKeys": []string{"EVIL_LOADER", "TOOL_CONFIG"},
		"warningText": "this command has environment overrides", "allowedDecisions": []string{"allow-once", "allow-always", "deny"},
		"scope": map[string]any{"kind": "standing-grant", "automation": "nightly", "expiresInDays": 30}})
	r := pendingOne(t, a, s)
	var shown []string
	for _, d := range r.Details {
		shown = append(shown, d.Title+": "+d.Text)
	}
	text := strings.Join(shown, "\n")
	for _, want := range []string{"Sets variables: EVIL_LOADER, TOOL_CONFIG", "Warning of OpenClaw: this command has environment overrides", `"kind":"standing-grant"`} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is not shown: %s", want, text)
		}
	}
	if strings.Contains(text, "Arguments") || slices.Contains(r.Options, "allow-always") || !r.CanAllow || r.Text != "git status" {
		t.Errorf("%+v", r)
	}
	other := r
	other.Details = nil
	if other.Key() == r.Key() {
		t.Error("the details are not in the key")
	}
}

// A request with a member that is not known can only be denied.
func TestUnknownMembers(t *testing.T) {
	g, a, s, id := asked(t, gatewaytest.Options{}, "ls")
	g.Answer(id)
	id = g.AskWith("agent:main:k", "ls", map[string]any{"sandbox": "off"})
	r := pendingOne(t, a, s)
	if !slices.Equal(r.Unknown, []string{"request.sandbox"}) || r.CanAllow || !r.CanDeny {
		t.Fatalf("%+v", r)
	}
	r.CanAllow = true
	if _, err := a.Answer(t.Context(), s, r, allow); !errors.Is(err, adapters.ErrNotAllowed) || !strings.Contains(err.Error(), `"request.sandbox"`) || g.Decided(id) != "" {
		t.Errorf("%v, %s", err, g.Decided(id))
	}
	if _, err := a.Answer(t.Context(), s, pendingOne(t, a, s), deny); err != nil || g.Decided(id) != "deny" {
		t.Errorf("%v, %s", err, g.Decided(id))
	}
}
