// Package gatewaytest is a double of the OpenClaw gateway for tests: a real
// WebSocket and HTTP server on loopback that speaks the protocol as it was
// recorded from OpenClaw 2026.9.6 (protocol 4), with
// their checks and refusals.
//
// It needs no *testing.T, so that programs can use it too.
package gatewaytest
