// Package follower keeps the choices of a user: the phone that receives alerts, the
// followed matches, and the preferences for alerts.
//
// A user has one registered phone. A phone belongs to one user: its registration
// deletes the registration of the user who had it before.
package follower
