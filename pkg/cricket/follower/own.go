package follower

// userPartition begins the partition keys of lists. No id of a match begins so.
const userPartition = "#USER#"

// FollowList returns the key of the list of the matches that a user follows.
func FollowList(userID string) []string { return []string{userPartition + userID, "#FOLLOWS"} }

// ActivityList returns the key of the list of a user's activities of a match, by push
// token. All lists of a user are in one partition, sorted by match.
func ActivityList(userID, matchID string) []string {
	return []string{userPartition + userID, matchID}
}
