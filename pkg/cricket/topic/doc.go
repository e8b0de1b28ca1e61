// Package topic updates the match on Android phones, by topics of Firebase Cloud Messaging.
//
// A match has a topic for each perspective, which apps subscribe to: start-activity answers with its name.
// Package live sends a Change when a display has changed, beside that to push-activities, if the stage has
// Android phones. The Pusher reads the current displays, and makes one request to Google for each
// perspective, whatever the audience. A message is a display with what the app needs to order and show it
// (message.go): the app starts, updates and ends its notification by itself.
//
// Google reaches about 10,000 phones a second by all topics of a project together. So the Pusher counts the
// Android phones of all matches in play (follower.ReadPhones), and thins out what it sends above EveryBall
// of them: a change that is neither a key event nor the end of an over waits for the next that is one. The
// newest state wins.
//
// A message of a ball lasts a minute, because the next ball replaces it; that of a state without play an
// hour, and an end 12 hours, in which it is also sent again at the times of activity.EndAgain. Messages have
// no collapse key, because Google holds back those that have one. Only key events, starts and ends have a
// high priority: Google lowers that of apps that do not show a notification for it.
package topic
