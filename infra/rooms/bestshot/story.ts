import assert from "node:assert/strict";
import { Problem } from "@matchday/client";
import { connect, type Code } from "@matchday/client/bestshot";
import type { World } from "./world.js";

// Tess guesses the score of a match that an administrator enters, and leads the board.
export async function story(world: World) {
  const office = connect(world.administrator("bestshot"));
  const bestshot = connect(world.user("bestshot"));
  const now = await world.wait(0);
  const kickOff = new Date(now.getTime() + 10 * 60_000).toISOString();

  const early = await bestshot.GET("/api/v2/member").catch((error: unknown) => error);
  assert.ok(Problem.is<Code>(early, "member_not_found"), String(early));

  const me = await bestshot.POST("/api/v2/member", { body: { nickName: `Tess ${world.tag}` } });
  const slug = `cup-${world.tag}`;
  const { id: tournamentId } = await office.POST("/api/v2/admin/tournaments", {
    body: {
      provider: "manual",
      externalId: String(now.getTime()),
      season: "2026",
      slug,
      label: `Cup ${world.tag}`,
      rounds: [{ slug: "final", label: "Final", type: "knockout" }],
    },
  });
  const { id: matchId } = await office.POST("/api/v2/admin/tournaments/{tournamentId}/rounds/{roundSlug}/matches", {
    params: { path: { tournamentId, roundSlug: "final" } },
    body: { home: "Rovers", away: "United", kickOff },
  });
  await office.PATCH("/api/v2/admin/tournaments/{tournamentId}", { params: { path: { tournamentId } }, body: { status: "active" } });

  const league = await bestshot.POST("/api/v2/leagues", { body: { name: `Pub ${world.tag}`, tournaments: [tournamentId] } });
  const guess = { matchId, home: { score: 2 }, away: { score: 1 } };
  assert.equal((await bestshot.POST("/api/v2/guess", { body: guess })).matchId, matchId);

  await world.wait(11 * 60);
  await assert.rejects(bestshot.POST("/api/v2/guess", { body: guess }), (error) => Problem.is(error) && error.status === 409);
  await office.POST("/api/v2/admin/settlements/{matchId}/correct", { params: { path: { matchId } }, body: { home: 2, away: 1 } });
  await world.wait(60);

  const board = await bestshot.GET("/api/v2/tournaments/{tournamentId}/leaderboard", { params: { path: { tournamentId } } });
  assert.deepEqual(board.data?.map((e) => [e.memberId, e.points]), [[me.id, 3]]);

  const members: string[] = [];
  for await (const page of bestshot.pages("/api/v2/leagues/{leagueId}/score", { params: { path: { leagueId: league.id } } })) {
    members.push(...(page.data ?? []).map((e) => e.memberId));
  }

  assert.deepEqual(members, [me.id]);

  // @ts-expect-error: a guess is of a match
  await assert.rejects(bestshot.POST("/api/v2/guess", { body: { home: { score: 1 }, away: { score: 0 } } }), (error) => Problem.is(error) && error.status === 422);
}
