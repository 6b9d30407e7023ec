package openclaw

import (
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"strings"
)

// unmarshalJSON5 parses settings in the form that OpenClaw accepts (2026.9.6): JSON, or JSON5, of which SQLite makes JSON.
func unmarshalJSON5(b []byte, v any) error {
	if json.Unmarshal(b, v) == nil {
		return nil
	}
	db, err := sql.Open("sqlite", ":memory:")
	if err != nil {
		return err
	}
	defer db.Close()
	text := escape.ReplaceAllStringFunc(string(b), withoutEscape)
	var wrong int // the character at which it is no JSON5; 0: none
	var plain string
	if err := db.QueryRow("SELECT json_error_position(?1), CASE json_error_position(?1) WHEN 0 THEN json(?1) ELSE '' END", text).Scan(&wrong, &plain); err != nil {
		return err
	}
	if wrong > 0 {
		runes := []rune(text)
		return fmt.Errorf("line %d: %w", 1+strings.Count(string(runes[:min(wrong-1, len(runes))]), "\n"), errNotJSON5)
	}
	return json.Unmarshal([]byte(plain), v)
}

var (
	errNotJSON5 = errors.New("this is neither JSON nor JSON5")
	escape      = regexp.MustCompile(`(?s)\\.`)
)

// withoutEscape returns an escape sequence, and a character that only stands for itself in one without the backslash: SQLite refuses it.
func withoutEscape(sequence string) string {
	if strings.ContainsAny(sequence[1:], "\\/\"'bfnrtvux0123456789\r\n\u2028\u2029") {
		return sequence
	}
	return sequence[1:]
}
