// Package onekey is the oracle of what one key allows: the shells themselves. It makes commands, asks a judge which of them one key allows, and runs those
// in bash, dash, zsh, fish and busybox under a tracer of system calls, in projects of which half were written by an attacker. None may write a file, execute
// a program other than the one that it names, open a file outside its folder, or use a socket. It shares nothing with the rule that it checks: its lists are
// its own. Linux only.
package onekey
