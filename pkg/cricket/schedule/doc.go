// Package schedule copies the provider's schedule of the active leagues, from two
// days back to 30 days ahead, every 15 minutes.
//
// It never writes attributes that belong to package live, and does not change a live
// match. A match that is over according to the schedule, and whose end is not decided,
// is sent to finish-match. So is an upcoming match that the provider has deleted: an
// upcoming match that the schedule no longer lists is requested by its id. A match that was called off and is
// listed again under another id is sent to finish-match, too, which carries its followers: carryFollowers.
package schedule
