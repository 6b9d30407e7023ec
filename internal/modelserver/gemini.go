package modelserver

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
)

// geminiRequest is a request of the Gemini API, as Gemini CLI sends it.
type geminiRequest struct {
	Contents []struct {
		Role  string `json:"role"`
		Parts []struct {
			Text     string          `json:"text"`
			Response json.RawMessage `json:"functionResponse"`
		} `json:"parts"`
	} `json:"contents"`
	Tools []struct {
		Functions []struct {
			Name       string          `json:"name"`
			Parameters json.RawMessage `json:"parametersJsonSchema"`
		} `json:"functionDeclarations"`
	} `json:"tools"`
	Config struct {
		Schema *geminiSchema `json:"responseJsonSchema"`
	} `json:"generationConfig"`
}

type geminiSchema struct {
	Properties map[string]struct {
		Type string `json:"type"`
		Enum []any  `json:"enum"`
	} `json:"properties"`
}

// contextMark begins what Gemini CLI tells the model about the folder.
const contextMark = "<session_context>"

func (s *Server) gemini(w http.ResponseWriter, r *http.Request) {
	model, call, _ := strings.Cut(r.PathValue("call"), ":")
	if call == "countTokens" {
		s.fixed(map[string]int{"totalTokens": defaultUsage.input})(w, r)
		return
	}
	var schema *geminiSchema
	s.conversation(func(body []byte) (wireRequest, error) {
		var m geminiRequest
		if err := json.Unmarshal(body, &m); err != nil {
			return wireRequest{}, fmt.Errorf("gemini request: %w", err)
		}
		schema = m.Config.Schema
		request := m.request()
		request.model, request.stream = model, call == "streamGenerateContent"
		return request, nil
	}, func(w http.ResponseWriter, r wireRequest, p plan) error {
		return writeGemini(w, r, p, schema)
	}, func(status int) any {
		return map[string]any{"error": map[string]any{"code": status, "message": fmt.Sprintf("mock failure %d", status), "status": "INTERNAL"}}
	}, usage.ofGemini)(w, r)
}

func (m *geminiRequest) request() (r wireRequest) {
	for _, tools := range m.Tools {
		for _, f := range tools.Functions {
			r.tools = append(r.tools, wireTool{Name: f.Name, Parameters: f.Parameters})
		}
	}
	r.side = len(r.tools) == 0
	for _, content := range slices.Backward(m.Contents) {
		if content.Role != "user" {
			continue
		}
		for _, part := range slices.Backward(content.Parts) {
			r.toolResult = r.toolResult || len(part.Response) > 0
			if text := strings.TrimSpace(part.Text); r.prompt == "" && text != "" && !strings.HasPrefix(text, contextMark) {
				r.prompt = text
			}
		}
		if r.prompt != "" {
			break
		}
	}
	return r
}

// geminiCall returns the call of a tool that a plan asks for, or nil.
func geminiCall(r wireRequest, p plan) (map[string]any, error) {
	name, arguments := "", any(nil)
	switch p.tool {
	case noTool:
		return nil, nil
	case shellTool:
		name, arguments = "run_shell_command", map[string]any{"command": p.argument, "description": "Run a command", "is_background": p.behind}
	case askTool:
		name, arguments = "ask_user", map[string]any{"questions": []any{map[string]any{
			"question": "Which colour?", "header": "Colour", "type": "choice", "options": []any{colour("Red"), colour("Blue")}}}}
	case agentTool:
		name, arguments = "invoke_agent", map[string]string{"agent_name": "generalist", "prompt": p.argument}
	}
	if _, ok := chatTool(r.tools, name); !ok {
		return nil, errors.New("no tool " + name + " is offered")
	}
	return map[string]any{"functionCall": map[string]any{"name": name, "args": arguments}}, nil
}

func writeGemini(w http.ResponseWriter, r wireRequest, p plan, schema *geminiSchema) error {
	call, err := geminiCall(r, p)
	if err != nil {
		return err
	}
	if schema != nil { // which model is to answer
		text, err := schema.example(p.text)
		if err != nil {
			return err
		}
		p.text = text
	}
	parts := []any{map[string]string{"text": p.text}}
	switch {
	case call != nil && p.said:
		parts = append(parts, call)
	case call != nil:
		parts = []any{call}
	}
	used, finish := p.usage.ofGemini(), "STOP"
	if p.cut {
		finish = "MAX_TOKENS"
	}
	answer := map[string]any{"modelVersion": r.model, "candidates": []any{map[string]any{"index": 0, "finishReason": finish,
		"content": map[string]any{"role": "model", "parts": parts}}},
		"usageMetadata": map[string]int{"promptTokenCount": p.usage.input, "cachedContentTokenCount": used.CacheRead,
			"candidatesTokenCount": p.usage.output, "thoughtsTokenCount": used.Reasoning, "totalTokenCount": p.usage.input + used.Output}}
	if r.stream {
		newEventStream(w).sendData(answer)
		return nil
	}
	writeJSON(w, http.StatusOK, answer)
	return nil
}

// example returns an object of the form that a schema asks for.
func (s *geminiSchema) example(text string) (string, error) {
	object := map[string]any{}
	for name, p := range s.Properties {
		switch kind := strings.ToLower(p.Type); {
		case len(p.Enum) > 0:
			object[name] = p.Enum[0]
		case kind == "integer" || kind == "number":
			object[name] = 1
		case kind == "boolean":
			object[name] = false
		default:
			object[name] = text
		}
	}
	return jsonText(object)
}
