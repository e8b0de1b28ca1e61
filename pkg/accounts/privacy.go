package accounts

import "matchday/pkg/spec"

// data is what the room keeps, and of whom.
var data = []spec.Data{
	{
		Store: "accounts",
		Of:    "users",
		What:  "the name that a user gave, and the deletions and exports that run",
		Why:   "to delete and to export the data of all rooms",
		Kept:  "until the account is deleted",
	},
	{
		Store: "deleted-users",
		Of:    "former users",
		What:  "the id of a user who has deleted the account",
		Why:   "so that nothing is written for the user by what still runs",
		Kept:  "two days",
	},
	{
		Store: "account-exports",
		Of:    "users",
		What:  "the file with all that rooms keep of a user",
		Why:   "to download it",
		Kept:  "seven days",
	},
}
