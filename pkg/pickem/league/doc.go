// Package league holds the leagues that members make among themselves, and the
// standings: of all members and of each league, by year. Those of a league are stored as those of all
// members are, or, if it has few members, ranked when they are read, from the points of its members.
// Both have the same order and the same ranks.
//
// Any member can create a league, and whoever has its code can join. Only the owner
// may remove another member, renew the code or delete the league. When the owner
// leaves, the member who joined first becomes the owner.
package league
