// Package harness has no code of its own, only its test: the tray, as it was
// built, and Rollcall's commands work among agents that start, take turns, wait,
// are suspended, wrapped and killed, whose pids go to others and whose stores are
// damaged, while the panel, the bus and Rollcall itself are killed. After each
// round an oracle compares the list, the rows of the tray, the notifications, the
// locks, the records and the hooks with what was done. A run is the same for the
// same seed. See make harness.
//
// With real agents the truth comes from outside: from the agent's own screen, by signs that lie beside the lock file
// of each release (package screen), from the requests that the model's server has, and, for which sessions there are,
// from the agent's own listing (package listing). What was done counts where none of them says anything, and for how a
// turn ended. Where an agent hangs up on the model by itself, as after minutes on a busy machine, it is not known how that turn goes on, and it is counted.
// The oracle reaches no adapter: see TestOracleIsFromOutside.
//
// Gemini CLI and Qwen Code also run in terminals without a title, where a row may say only that it is the user's turn, or that it is not known, and Codex proposes
// plans. TestStates takes these steps alone, in order, and has a terminal of Copilot CLI go back from a session that another one has.
//
// ROLLCALL_HARNESS_COUNT=1 has a run count its differences and go on, and ROLLCALL_HARNESS_ONLY names some of the real
// agents. With ROLLCALL_HARNESS_BINARY an older build of Rollcall is held to the same truth.
package harness
