// Package agentproc finds the processes of agents: those of containers, with their homes as they are seen from here, and it reads files and
// processes of one moment.
package agentproc
