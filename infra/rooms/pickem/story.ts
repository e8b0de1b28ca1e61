import assert from "node:assert/strict";
import { Problem } from "@matchday/client";
import { connect, type Code } from "@matchday/client/pickem";
import type { World } from "./world.js";

// Tess picks the winners of a show, and is the first of her league.
export async function story(world: World) {
  const office = connect(world.administrator("pickem"));
  const pickem = connect(world.user("pickem"));
  const now = await world.wait(0);
  const startsAt = new Date(now.getTime() + 10 * 60_000).toISOString();

  const event = await office.POST("/admin/events", {
    body: { name: `Night of ${world.tag}`, slug: `night-${world.tag}`, date: startsAt.slice(0, 10), startsAt, lockAt: startsAt },
  });
  const match = await office.POST("/admin/events/{eventId}/matches", {
    params: { path: { eventId: event.id } },
    body: {
      name: "Main event",
      points: 10,
      teams: [
        { members: ["Odo Wrenfield"] },
        { members: ["Sister Halcyon"] },
      ],
    },
  });

  await office.POST("/admin/users", { body: { name: "Tess", email: world.email } });

  const [loser = "", winner = ""] = match.teams.map((team) => team.id);
  const league = await pickem.POST("/app/leagues", { body: { name: `Office ${world.tag}` } });
  const path = { eventId: event.id };
  const picked = await pickem.PUT("/app/events/{eventId}/predictions", { params: { path }, body: { predictions: { [match.id]: winner } } });
  assert.deepEqual(picked.predictions, { [match.id]: winner });

  await world.wait(11 * 60);
  const late = await pickem
    .PUT("/app/events/{eventId}/predictions", { params: { path }, body: { predictions: { [match.id]: loser } } })
    .catch((error: unknown) => error);
  assert.ok(Problem.is<Code>(late, "event_locked"), String(late));

  await office.PUT("/admin/events/{eventId}/matches/{matchId}/result", { params: { path: { ...path, matchId: match.id } }, body: { result: 1 } });
  await office.POST("/admin/events/{eventId}/score", { params: { path } });
  await world.wait(60);

  assert.equal((await pickem.GET("/app/events/{eventId}/results", { params: { path } })).mine?.points, 10);

  let first: string | undefined;
  const standings = { leagueId: league.leagueId, year: startsAt.slice(0, 4) };
  for await (const page of pickem.pages("/app/leagues/{leagueId}/standings/{year}", { params: { path: standings } })) {
    first ??= page.standings.find((s) => s.rank === 1)?.userId;
  }

  assert.equal(first, (await pickem.GET("/app/me")).userId);

  // @ts-expect-error: a name is a string
  await assert.rejects(pickem.PATCH("/app/me", { body: { name: 7 } }), (error) => Problem.is(error) && error.status === 422);
}
