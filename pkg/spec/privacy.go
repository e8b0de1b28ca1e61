package spec

// Data is what a room keeps in one of its stores, for the page that tells users.
type Data struct {
	Store string // the name of the table, database, bucket or cache
	Of    string // whose data it is: "users". Empty: of nobody, as fixtures are
	What  string
	Why   string // not needed without Of
	Kept  string // how long. Not needed without Of
}

// Recipient is somebody besides AWS to whom a room gives data of users, or who processes them for it.
type Recipient struct {
	Name string
	Gets string // which data
	Why  string
}
