// Package worktree creates, lists and removes git worktrees in which several agents try the same task side by side. Each
// try has a folder and a branch, named after the launch's group. The package runs the git executable and stores nothing.
//
// The names are those of OrgLoop/agentctl, so that its worktrees are found as well.
package worktree
