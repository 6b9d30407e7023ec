package present

import (
	"strings"
	"unicode"
)

// optionWords are the words for the options that agents name as their protocols do, by the name in small letters without separators. Claude Code, OpenCode,
// OpenClaw, Codex and the agents that speak ACP send them.
var optionWords = map[string]string{
	"allow": "Allow once", "allowonce": "Allow once", "once": "Allow once", "accept": "Allow once", "approved": "Allow once", "approve": "Allow once",
	"always": "Always allow", "allowalways": "Always allow", "acceptforsession": "Allow for this session", "approvedforsession": "Allow for this session",
	"acceptwithexecpolicyamendment": "Allow, and commands that begin like it from now on", "approvedexecpolicyamendment": "Allow, and commands that begin like it from now on",
	"applynetworkpolicyamendment": "Allow, and this host from now on",
	"deny":                        "Deny", "denied": "Deny", "reject": "Deny", "rejectonce": "Deny", "decline": "Deny", "rejectalways": "Always deny",
	"cancel": "Deny, and end the turn", "abort": "Deny, and end the turn",
}

// Option returns the words for an option of an agent's request. A name of a protocol that has no words yet is divided into its words; any other text is returned as it is.
func Option(name string) string {
	if strings.ContainsFunc(name, func(r rune) bool { return r > unicode.MaxASCII || !unicode.IsLetter(r) && r != '_' && r != '-' }) {
		return name
	}
	if words := optionWords[strings.ToLower(strings.NewReplacer("_", "", "-", "").Replace(name))]; words != "" {
		return words
	}
	var out strings.Builder
	for i, r := range name {
		switch {
		case r == '_' || r == '-':
			out.WriteByte(' ')
		case i > 0 && unicode.IsUpper(r) && unicode.IsLower(rune(name[i-1])):
			out.WriteString(" " + string(unicode.ToLower(r)))
		case i == 0:
			out.WriteRune(unicode.ToUpper(r))
		default:
			out.WriteRune(r)
		}
	}
	return out.String()
}
