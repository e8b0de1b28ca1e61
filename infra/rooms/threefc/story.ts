import assert from "node:assert/strict";
import { Problem } from "@matchday/client";
import { connect, type Code } from "@matchday/client/threefc";
import type { World } from "./world.js";

// Tess signs in by a mail, plays a game of three teams with her league, and deletes her account.
export async function story(world: World) {
  const threefc = connect(world.browser("threefc"));
  const email = `tess-plays-${world.tag}@example.com`;

  const nobody = await threefc.GET("/v1/leagues").catch((error: unknown) => error);
  assert.ok(Problem.is<Code>(nobody, "missing_session"), String(nobody));

  await threefc.POST("/v1/auth/magic/start", { body: { email } });
  const [, token = ""] = /\/sign-in\?token=(\S+)/.exec(await world.mail(email)) ?? [];
  assert.equal((await threefc.POST("/v1/auth/magic/complete", { body: { token } })).email, email);

  const now = await world.wait(0);
  const league = await threefc.POST("/v1/leagues", { body: { name: `Park ${world.tag}`, slug: `park-${world.tag}`, visibility: "public" } });
  const { leagueId } = league;
  const { seasonId } = await threefc.POST("/v1/leagues/{leagueId}/seasons", { params: { path: { leagueId } }, body: { name: "Summer" } });

  for (const [teamId, name] of [["red", "Reds"], ["blue", "Blues"], ["yellow", "Yellows"]] as const) {
    await threefc.PUT("/v1/seasons/{seasonId}/teams/{teamId}", { params: { path: { seasonId, teamId } }, body: { name } });
  }

  const { sessionId } = await threefc.POST("/v1/seasons/{seasonId}/sessions", {
    params: { path: { seasonId } },
    body: { sessionDate: now.toISOString().slice(0, 10) },
  });
  const { gameId } = await threefc.POST("/v1/sessions/{sessionId}/games", {
    params: { path: { sessionId } },
    body: { gameStartTs: now.toISOString(), thirdLength: 20, teamIds: ["red", "blue", "yellow"] },
  });
  const { playerId } = await threefc.POST("/v1/players", { body: { leagueId, nickname: "Foxy" } });
  await threefc.PUT("/v1/games/{gameId}/roster/{playerId}", { params: { path: { gameId, playerId } }, body: { teamId: "red" } });

  const path = { gameId };
  const goal = { scoringTeamId: "red", concedingTeamId: "blue", scorerPlayerId: playerId };

  for (const third of [1, 2, 3]) {
    await threefc.POST("/v1/games/{gameId}/thirds/{third}/start", { params: { path: { gameId, third } }, body: {} });
    await world.wait(60);
    await threefc.POST("/v1/games/{gameId}/goals", { params: { path }, body: goal });
    await threefc.POST("/v1/games/{gameId}/thirds/{third}/finish", { params: { path: { gameId, third } }, body: {} });
  }

  const { etag = "" } = await threefc.read("/v1/games/{gameId}", { params: { path } });
  await threefc.POST("/v1/games/{gameId}/goals/undo", { params: { path, header: { "If-Match": etag } } });

  const game = await threefc.POST("/v1/games/{gameId}/finish", { params: { path } });
  assert.equal(game.result?.winnerTeamId, "red");
  assert.deepEqual(game.scores.map((s) => [s.teamId, s.scored]).sort(), [["blue", 0], ["red", 2], ["yellow", 0]]);
  await world.wait(60);

  const table = await threefc.GET("/v1/public/seasons/{seasonId}/standings", { params: { path: { seasonId } } });
  assert.equal(table.teams[0]?.teamId, "red");

  const players: string[] = [];
  for await (const page of threefc.pages("/v1/leagues/{leagueId}/players", { params: { path: { leagueId } } })) {
    players.push(...page.players.map((p) => p.nickname));
  }

  assert.deepEqual(players, ["Foxy"]);

  await threefc.DELETE("/v1/account");
  await assert.rejects(threefc.GET("/v1/leagues"), (error) => Problem.is(error) && error.status === 401);

  // @ts-expect-error: a league has a name
  await assert.rejects(threefc.POST("/v1/leagues", { body: {} }), (error) => Problem.is(error) && error.status === 401);
}
