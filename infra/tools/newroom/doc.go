// Package newroom tests that a room is added by the steps that ARCHITECTURE.md lists, and that
// each step that is left out fails a test which names the place.
package newroom
