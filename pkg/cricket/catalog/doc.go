// Package catalog keeps leagues, teams and seasons.
//
// # Inactive leagues
//
// A league is active until an administrator sets active to false. The matches of an
// inactive league get no ticks, no polls and no alerts:
//
//   - sync-fixtures, plan-ticks, detect-toss, remind-prematch and sync-teams and
//     sync-standings list the active leagues at each run, and leave out the others.
//   - tick skips these matches in the feed before any read or write. A match that was live
//     is archived by the next tick that knows, and sent to finish-match: its lock screens
//     stay as they are, until the provider's page of the match reports the end. They then
//     show the result and end.
//   - send-alerts drops the alerts of these matches.
//
// tick and send-alerts cache the list for a minute. Stored matches can still be read and
// followed. When the league is active again, its matches continue with the next sync and
// the next tick.
//
// # Sync
//
// A daily sync copies them from the provider. It writes rows that are missing or have
// changed, and never an attribute that belongs to the administrators: whether a
// league is active, its title and priority, and the title, short name and color of a
// team. Administrators change those through the API.
package catalog
