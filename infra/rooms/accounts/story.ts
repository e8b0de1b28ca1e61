import assert from "node:assert/strict";
import { connect } from "@matchday/client/accounts";
import type { World } from "./world.js";

// Tess exports her data, and deletes the account with which she has played in the other rooms.
export async function story(world: World) {
  const accounts = connect(world.user("accounts"));
  const { userId } = await accounts.GET("/account");

  await accounts.GET("/account/export");
  await world.wait(120);
  assert.match((await accounts.GET("/account/export")).url ?? "", /^https?:/);

  const deleted = await accounts.DELETE("/account");
  assert.deepEqual([deleted.userId, deleted.deletedAt !== undefined], [userId, true]);
}
