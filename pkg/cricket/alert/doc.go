// Package alert sends notifications to the followers of a match.
//
// Four sources send an Alert message: package live for the events of a match; the
// TossDetector, which asks the provider for the toss before a match starts; the Reminder,
// a quarter of an hour before the start; and package schedule, when a match is moved. A
// moved match is reminded of again.
//
// The Alerter serves the followers in pages of 500. It leaves out those whose
// preferences exclude the alert, sends a notification to the phones of the others,
// and starts a Live Activity where the phone allows that: once on each day of play, because
// iOS ends an activity after 8 h. It records its progress
// after each page, so a second run continues there. It retries followers whom Apple
// did not reach, for 51 minutes.
package alert
