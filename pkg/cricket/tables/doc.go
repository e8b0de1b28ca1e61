// Package tables lists the tables of the room and their access patterns, except those that stand
// beside the only function that uses them. It also has the names that several packages share:
// queues, metrics, settings and secrets.
package tables
