// Package pickemtest gives tests a pick'em room: its routes served from one process,
// on a clock that only the test moves, with shorthands for what members and
// administrators do.
package pickemtest
