// Package tables lists the tables of the room and every access pattern on them. It
// also has the names that several packages share: queues, metrics, settings and
// secrets.
package tables
