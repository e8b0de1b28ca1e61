// Package alert sends notifications to the followers of a match.
//
// Four sources send an Alert message: package live for the events of a match; the TossDetector,
// which asks the provider for the toss before a match starts; the Reminder, a quarter of an hour
// before the start; and package schedule, when a match is moved. A moved match is reminded of
// again.
//
// The Alerter serves the followers in pages of 500. It leaves out those whose preferences exclude
// the alert, sends a notification to the phones of the others, and starts a Live Activity where the
// phone allows that: once on each day of play, because iOS ends an activity after 8 h. It records
// its progress after each page, so a second run continues there. It retries followers whom Apple
// did not reach, for 51 minutes.
//
// # Languages
//
// An Alert has its texts in English, and in Says as keys of the catalogue (package words). A phone whose
// catalogue has all keys of the alert gets the keys, any other the text in the language of its locale.
// A broadcast carries no alert: it reaches phones of all versions and languages at once, so the
// sentences of a display are in plain English, with codes and numbers beside them.
//
// # Throughput
//
// A worker serves some 1,000 followers a second: of a page it reads the preferences in batches of
// 100 and the phones 32 at a time, claims what must be claimed, and pushes, each in 50 to 250 ms; the
// notifications of all languages at once.
// 20 workers serve 20,000 a second.
//
// A reminder is claimed in batches. The start of an activity is claimed one by one: only a
// condition excludes a worker that has lost its lock, and a phone starts an activity for each push.
// The claims of a user have a partition of their own, so the limit is that of the table: a new
// on-demand table takes 4,000 writes a second, 3.6 million claims in the quarter of an hour before
// a match. One partition takes 1,000 a second.
package alert
