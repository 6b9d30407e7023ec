// Package soak has no code of its own, only its test: sessions of all agents
// come and go for 20 s, or as long as ROLLCALL_SOAK says, while the core
// runs as it does in the tray; at every sample what it shows is the truth, and
// at the end nothing has accumulated.
package soak
