// Package catalog keeps leagues, teams and seasons.
//
// A daily sync copies them from the provider. It writes what is missing or has
// changed, and never an attribute that belongs to the administrators: whether a
// league is active, its title and priority, a team's title, short name and color.
// Administrators change those through the API.
package catalog
