package gatewaytest

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"time"
)

// row returns a session as sessions.list tells it.
func (g *Gateway) row(s Session, titles, last bool) map[string]any {
	row := map[string]any{
		"key": s.Key, "sessionId": s.SessionID, "kind": "direct", "updatedAt": millis(s.UpdatedAt),
		"abortedLastRun": s.Aborted, "systemSent": true,
	}
	put := func(name string, value any, known bool) {
		if known {
			row[name] = value
		}
	}
	text := func(name, value string) { put(name, value, value != "") }
	at := func(name string, t time.Time) { put(name, millis(t), !t.IsZero()) }
	text("label", s.Label)
	text("displayName", s.DisplayName)
	text("model", s.Model)
	text("modelProvider", s.Provider)
	text("spawnedBy", s.SpawnedBy)
	put("derivedTitle", s.DerivedTitle, titles && s.DerivedTitle != "")
	put("lastMessagePreview", s.LastMessage, last && s.LastMessage != "")
	put("inputTokens", s.Input, s.Input+s.Output > 0)
	put("outputTokens", s.Output, s.Input+s.Output > 0)
	put("totalTokens", s.Total, s.Total > 0)
	put("totalTokensFresh", true, s.Total > 0)
	put("contextTokens", s.ContextTokens, s.ContextTokens > 0)
	if g.opts.MaxProtocol >= 4 {
		text("parentSessionKey", s.ParentKey)
		text("workspaceDir", s.WorkspaceDir)
		text("lastRunError", s.LastRunError)
		text("status", s.status())
		text("lastRunId", s.RunID)
		put("estimatedCostUsd", s.CostUSD, s.CostUSD > 0)
		at("createdAt", s.CreatedAt)
		at("startedAt", s.StartedAt)
		at("endedAt", s.EndedAt)
		row["hasActiveRun"] = s.Running
		row["agentId"] = "main"
	}
	maps.Copy(row, s.Extra)
	return row
}

func (s *Session) status() string {
	if s.Running && s.Status == "" {
		return "running"
	}
	return s.Status
}

func (m Message) row() map[string]any {
	row := map[string]any{"role": m.Role}
	if !m.At.IsZero() {
		row["timestamp"] = millis(m.At)
	}
	text := []map[string]any{{"type": "text", "text": m.Text}}
	switch {
	case m.Role == "user":
		row["content"] = m.Text
	case m.Role == "toolResult":
		row["content"] = text
		row["toolCallId"] = m.CallID
		row["toolName"] = m.Tool
		row["isError"] = m.Failed
	case m.Tool != "":
		row["content"] = []map[string]any{{"type": "toolCall", "id": m.CallID, "name": m.Tool,
			"arguments": map[string]any{"command": m.Command}}}
	default:
		row["content"] = text
	}
	return row
}

func (c *conn) history(raw json.RawMessage) (any, *failure) {
	var p struct {
		SessionKey    string
		Limit, Offset int
	}
	_ = json.Unmarshal(raw, &p)
	s, _ := c.g.find(func(s *Session) bool { return s.Key == p.SessionKey })
	end := max(0, len(s.Messages)-p.Offset)
	rows := []map[string]any{}
	start := end
	for ; start > 0 && (p.Limit <= 0 || len(rows) < p.Limit); start-- {
		if m := s.Messages[start-1]; !m.Hidden {
			row := m.row()
			row["__openclaw"] = map[string]any{"id": fmt.Sprintf("m%d", start), "seq": start}
			rows = append(rows, row)
		}
	}
	slices.Reverse(rows)
	page := map[string]any{"sessionKey": p.SessionKey, "sessionId": s.SessionID, "messages": rows}
	if !c.g.opts.NoOffset {
		page["hasMore"], page["totalMessages"] = start > 0, len(s.Messages)
		if start > 0 {
			page["nextOffset"] = len(s.Messages) - start
		}
	}
	return page, nil
}

// preview returns the tail of conversations, as sessions.preview tells it.
func (c *conn) preview(raw json.RawMessage) (any, *failure) {
	var p struct {
		Keys            []string
		Limit, MaxChars int
	}
	_ = json.Unmarshal(raw, &p)
	previews := []map[string]any{}
	for _, key := range p.Keys {
		s, ok := c.g.find(func(s *Session) bool { return s.Key == key })
		if !ok {
			previews = append(previews, map[string]any{"key": key, "status": "missing", "items": []any{}})
			continue
		}
		items := []map[string]any{}
		for _, m := range s.Messages {
			if m.Text != "" && m.Role != "toolResult" {
				items = append(items, map[string]any{"role": m.Role, "text": cut(m.Text, p.MaxChars)})
			}
		}
		if p.Limit > 0 {
			items = items[max(0, len(items)-p.Limit):]
		}
		previews = append(previews, map[string]any{"key": key, "status": "ok", "items": items})
	}
	return map[string]any{"ts": millis(time.Now()), "previews": previews}, nil
}

func cut(text string, n int) string {
	if r := []rune(text); n > 0 && len(r) > n {
		return string(r[:n-1]) + "…"
	}
	return text
}

// usage counts one session.
func (c *conn) usage(raw json.RawMessage) (any, *failure) {
	var p struct{ Key string }
	_ = json.Unmarshal(raw, &p)
	rows := []map[string]any{}
	if s, ok := c.g.find(func(s *Session) bool { return s.Key == p.Key }); ok {
		rows = append(rows, map[string]any{"key": s.Key, "sessionId": s.SessionID, "updatedAt": millis(s.UpdatedAt),
			"usage": map[string]any{"input": s.Input, "output": s.Output, "cacheRead": s.CacheRead, "cacheWrite": s.CacheWrite,
				"totalCost": s.CostUSD, "missingCostEntries": 0}})
	}
	return map[string]any{"updatedAt": millis(time.Now()), "sessions": rows, "cacheStatus": map[string]any{"status": "fresh"}}, nil
}
