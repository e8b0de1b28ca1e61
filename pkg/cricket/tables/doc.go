// Package tables lists the room's tables and every access pattern on them, and the
// names that several packages share: queues, settings and secrets.
package tables
