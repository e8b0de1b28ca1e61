// Package tables is the room's table, with its index and every access pattern.
// The keys are listed in the description of package pickem.
package tables
