import assert from "node:assert/strict";
import { Problem } from "@matchday/client";
import { connect, type Code, type Schemas } from "@matchday/client/cricket";
import type { World } from "./world.js";

// Tess follows a match that is in play, and a team.
export async function story(world: World) {
  const guest = connect({ url: world.user("cricket").url });
  const teams: Schemas["TeamProfile"][] = [];
  for await (const page of guest.pages("/teams", { params: { query: { limit: 2 } } })) teams.push(...page.teams);
  assert.ok(teams.length > 2, "the teams have several pages");

  const missing = await guest.GET("/matches/{id}", { params: { path: { id: "1" } } }).catch((error: unknown) => error);
  assert.ok(Problem.is<Code>(missing, "match_not_found"), String(missing));

  const [match] = (await guest.GET("/matches", { params: { query: { live: true } } })).matches;
  assert.ok(match, "no match is in play");

  const cricket = connect(world.user("cricket"));
  const path = { matchId: match.id };
  const followed = await cricket.POST("/user/follow/{matchId}", { params: { path }, body: { teamId: match.local.id } });
  assert.equal(followed.matchId, match.id);
  assert.deepEqual((await cricket.GET("/user/follows")).follows.map((f) => f.matchId), [match.id]);

  await cricket.PUT("/user/subscriptions/{kind}/{id}", { params: { path: { kind: "team", id: match.visitor.id } }, body: {} });
  assert.deepEqual((await cricket.GET("/user/subscriptions")).teams, [match.visitor.id]);

  const preferences = await cricket.PUT("/user/preferences", { body: { alerts: ["wicket"], keyEventsOnly: true, spoilerFree: false } });
  assert.deepEqual(preferences.alerts, ["wicket"]);

  const display = await guest.GET("/matches/{id}/display", { params: { path: { id: match.id }, query: { team: match.local.id } } });
  assert.notEqual(display.headline, "");
  assert.ok((await cricket.GET("/user/home")).live.some((m) => m.id === match.id), "the home screen lacks the match");

  assert.equal(await cricket.DELETE("/user/follow/{matchId}", { params: { path } }), undefined);
  assert.deepEqual((await cricket.GET("/user/follows")).follows, []);

  // @ts-expect-error: the operation has no such parameter
  await assert.rejects(guest.GET("/teams", { params: { query: { limitt: 2 } } }), (error) => Problem.is(error) && error.errors[0]?.location === "query.limitt");
}
