package ui

import (
	"strings"

	"rollcall/adapters"
	"rollcall/app"
)

// hostile returns a snapshot of sessions whose texts are hard to show.
func hostile() *app.Snapshot {
	return snapshotOf(
		session("escape", adapters.Waiting, func(s *adapters.Session) {
			s.Title = "\x1b[31mred\x1b[0m \x1b]0;owned\x07title <b>bold</b> &amp; **markdown** \u202egnirts desrever\u202c"
			s.FirstPrompt = strings.Repeat("A very long prompt that goes on and on. ", 60) + "\n\n\tindented\n" + strings.Repeat("unbrokenword", 60)
			s.LastPrompt = "\x1b[2J\x1b[H\x00\x07"
			s.Branch = strings.Repeat("branch-", 60)
			s.CWD = "/home/dev/" + strings.Repeat("very-deep-folder/", 30) + "end \x1b[1mname"
			s.Model = "<script>alert(1)</script>"
			s.Evidence = strings.Repeat("evidence ", 80)
			s.Files = []string{"/home/dev/" + strings.Repeat("x", 400)}
		}),
		session("huge", adapters.Working, func(s *adapters.Session) {
			s.Title = strings.Repeat("W", 20_000)
			s.LastPrompt = strings.Repeat("huge ", 1<<20)
			s.Remote = "gateway-" + strings.Repeat("far", 100)
		}),
		session("cjk", adapters.Working, func(s *adapters.Session) {
			s.CWD = "/home/dev/プロジェクト/分散システム"
			s.Title = "分散システムのテストを直す 🚀👩‍👩‍👧‍👦 — これはとても長いタイトルで、行の幅に収まりません。省略記号で短くなるはずです"
			s.FirstPrompt = "テストが時々失敗します。原因を見つけて直してください。\n한국어 텍스트도 있습니다. 🎉 Ünïcödé, ελληνικά, кириллица, עברית, العربية"
			s.Branch = "機能/直す"
		}),
		session("empty", adapters.Idle, func(s *adapters.Session) { s.CWD, s.Evidence = "", "no file" }),
		session("", adapters.Unknown, func(s *adapters.Session) { s.Evidence = "rollout without an id" }),
	)
}
