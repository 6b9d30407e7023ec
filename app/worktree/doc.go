// Package worktree makes, lists and removes the git worktrees in which several
// agents try the same task beside each other: a folder and a branch each, named
// after the launch's group. It works over the git executable and keeps nothing:
// every answer is git's, at the time of the question.
//
// The names are those of OrgLoop/agentctl, so that its worktrees are found too.
package worktree
