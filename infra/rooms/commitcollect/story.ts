import assert from "node:assert/strict";
import { Problem } from "@matchday/client";
import { connect, type Code } from "@matchday/client/commitcollect";
import type { World } from "./world.js";

// Tess signs in on the page of the user pool, begins to collect a model, and deletes her account.
export async function story(world: World) {
  const office = connect(world.administrator("commitcollect"));
  const options = world.browser("commitcollect");
  const commitcollect = connect(options);
  const modelId = `sledge-${world.tag}`;

  await office.PUT("/admin/models/{modelId}", { params: { path: { modelId } }, body: { name: "Sledge", year: 2026, partsTotal: 2 } });

  for (const [i, part] of ["seat", "runners"].entries()) {
    await office.PUT("/admin/models/{modelId}/parts/{partIndex}", {
      params: { path: { modelId, partIndex: i + 1 } },
      body: { partName: part, meshFile: `${modelId}/${part}.glb`, attachPoint: part, displayOrder: i + 1 },
    });
  }

  await office.POST("/admin/models/{modelId}/activate", { params: { path: { modelId } } });

  assert.equal((await commitcollect.GET("/viewer")).signedIn, false);
  await signIn(options, `tess-collects-${world.tag}`);
  assert.equal((await commitcollect.GET("/viewer")).signedIn, true);

  const models: string[] = [];
  for await (const page of commitcollect.pages("/models", { params: { query: { limit: 1 } } })) models.push(...page.models.map((m) => m.modelId));
  assert.ok(models.includes(modelId), models.join());

  const now = await world.wait(0);
  const { milestoneId } = await commitcollect.POST("/milestones", {
    body: { modelId, sport: "RUN", targetType: "DISTANCE_METERS", totalTarget: 42_195, periodStartAtUtc: Math.floor(now.getTime() / 1000) - 60 },
  });
  const milestone = await commitcollect.GET("/milestones/{milestoneId}", { params: { path: { milestoneId } } });
  assert.deepEqual([milestone.totalTarget, milestone.progressValue], [42_195, 0]);
  assert.equal((await commitcollect.PATCH("/preferences", { body: { units: "mi" } })).units, "mi");

  await commitcollect.DELETE("/account");
  const gone = await commitcollect.GET("/milestones").catch((error: unknown) => error);
  assert.ok(Problem.is<Code>(gone) && gone.status === 401, String(gone));

  // @ts-expect-error: a milestone has a target
  await assert.rejects(commitcollect.POST("/milestones", { body: { modelId } }), (error) => Problem.is(error) && error.status === 401);
}

// signIn follows the redirects of a browser, and fills in the page of the user pool.
async function signIn(options: { url: string; fetch: typeof fetch }, user: string) {
  const follow = async (url: string, init?: RequestInit) => {
    const response = await options.fetch(url, init);
    assert.equal(response.status, 302, `${url}: ${response.status}`);

    return new URL(response.headers.get("Location") ?? "", url).href;
  };

  const page = await follow(`${options.url}/auth/login`);
  await follow(await follow(page, { method: "POST", body: new URLSearchParams({ user }) }));
}
