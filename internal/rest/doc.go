// Package rest has no code of its own, only its test: it measures what the tray
// costs while nothing happens, with 10,000 sessions on disk, 300 processes and 10
// live agents. ROLLCALL_REST says for how long; without it nothing is measured.
package rest
