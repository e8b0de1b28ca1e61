// Package home answers what a user sees first: the followed matches that are in play, those to come
// and the latest results, each with the user's Live Activity. It also lists the user's activities.
package home
