package openclaw

import (
	"bytes"
	"encoding/json"
	"slices"

	"rollcall/adapters"
)

// requests is the answer to a list of approvals (an array) or of questions (an
// object with one), in 2026.9.6.
type requests []json.RawMessage

// UnmarshalJSON implements json.Unmarshaler.
func (l *requests) UnmarshalJSON(b []byte) error {
	if bytes.HasPrefix(bytes.TrimSpace(b), []byte("[")) {
		return json.Unmarshal(b, (*[]json.RawMessage)(l))
	}
	var object struct {
		Questions []json.RawMessage `json:"questions"`
		Approvals []json.RawMessage `json:"approvals"`
	}
	if err := json.Unmarshal(b, &object); err != nil {
		return err
	}
	*l = slices.Concat(object.Questions, object.Approvals)
	return nil
}

// enter adds the requests to what each session waits for.
func (l requests) enter(found map[string]request, what adapters.WaitingFor) {
	for _, raw := range l {
		var r struct {
			Status     string `json:"status"`
			SessionKey string `json:"sessionKey"`
			Request    struct {
				SessionKey string `json:"sessionKey"`
				Command    string `json:"command"`
				Title      string `json:"title"`
			} `json:"request"`
			Questions []struct {
				Question string `json:"question"`
				Header   string `json:"header"`
			} `json:"questions"`
		}
		// A member of another type leaves the others as they are.
		_ = json.Unmarshal(raw, &r)
		key := first(r.SessionKey, r.Request.SessionKey)
		if key == "" || r.Status != "" && r.Status != "pending" {
			continue
		}
		w := request{what: what, text: first(r.Request.Command, r.Request.Title)}
		if len(r.Questions) > 0 {
			w.text = first(r.Questions[0].Question, r.Questions[0].Header)
		}
		if have, ok := found[key]; ok {
			have.more++
			found[key] = have
			continue
		}
		found[key] = w
	}
}
