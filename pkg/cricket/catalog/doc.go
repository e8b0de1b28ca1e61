// Package catalog keeps leagues, teams and seasons.
//
// A daily sync copies them from the provider. It writes rows that are missing or have
// changed, and never an attribute that belongs to the administrators: whether a
// league is active, its title and priority, and the title, short name and color of a
// team. Administrators change those through the API.
package catalog
