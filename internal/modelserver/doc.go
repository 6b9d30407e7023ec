// Package modelserver is a model server for tests with real coding agents: it
// speaks the Anthropic Messages API, the OpenAI Responses API, OpenAI chat
// completions and the Gemini API on loopback, and answers what directives in the user's prompt tell
// it to, so that a test can hold an agent in any state it likes.
//
// Directives stand in the newest message of the user:
//
//	[[delay 20]]        answer after 20 s (fractions allowed)
//	[[hold s17]]        answer, also a tool's result, when Release("s17", …) says how
//	[[cut]]             answer, and state that the answer ends at the limit of its tokens
//	[[say hello]]       answer "hello"
//	[[bash touch x]]    answer with a call of the agent's shell tool
//	[[call T {"a":1}]]  answer with a call of the tool T (Messages API)
//	[[move a b]]        answer with a patch that moves the file a, whose first line is "hello", to b (OpenCode, Codex)
//	[[esc]]             with bash: ask to run it outside of the sandbox (Codex)
//	[[behind]]          with bash: run it in the background, as far as the tool's arguments have that
//	[[ask]]             answer with a question to the user (Claude Code, OpenCode, Gemini CLI)
//	[[agent do ((bash x))]]  answer with a sub-agent whose prompt is "do [[bash x]]" (Claude Code, OpenCode, Gemini CLI)
//	[[fail]], [[fail 400]]   answer with HTTP 500, or that status
//	[[fail 429 3600]]   answer with that status, to be tried again after 3600 s
//	[[once]]            with fail: only the first request with this prompt fails
//	[[limits 93 17]]    state that 93 % of 5 hours and 17 % of a week are used (Messages API of a subscription)
//	[[usage 111 22]]    state 111 input and 22 output tokens
//	[[usage 111 22 9 7 3]]  and 9 read from a cache, 7 written to it (Messages API) and 3 of reasoning (the other APIs)
//	[[title s17]]       answer a request for a title with "s17"
//
// A result of a tool is answered with "Done." and anything else with "Mock
// answer to: " and the prompt. Requests beside the main conversation (titles,
// summaries), recognised by their not offering any shell tool, get a plain
// title and obey no other directive.
package modelserver
