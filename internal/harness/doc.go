// Package harness has no code of its own, only its test: the tray, as it was
// built, and Rollcall's commands work among agents that start, take turns, wait,
// are suspended, wrapped and killed, whose pids go to others and whose stores are
// damaged, while the panel, the bus and Rollcall itself are killed. After each
// round an oracle compares the list, the rows of the tray, the notifications, the
// locks, the records and the hooks with what was done. A run is the same for the
// same seed. See make harness.
//
// With real agents the truth comes from outside: from the requests that the model's
// server has, and from the agent's own screen, by signs that lie beside the lock file
// of each release (package screen). What was done counts where neither says anything,
// and for how a turn ended. The oracle imports no adapter: see TestOracleIsFromOutside.
package harness
