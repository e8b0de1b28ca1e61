package matchday.story

import matchday.accounts.Accounts

// Tess exports her data, and deletes the account with which she has played in the other rooms.
suspend fun accounts(world: World) {
    val accounts = Accounts(world.user("accounts"))
    val user = accounts.getAccount().userId

    accounts.getExport()
    world.wait(120)
    check(accounts.getExport().url.orEmpty().startsWith("http")) { "the export does not end" }

    val deleted = accounts.deleteAccount()
    expect(user, deleted.userId)
    check(deleted.deletedAt != null)
}
