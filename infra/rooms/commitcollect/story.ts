import assert from "node:assert/strict";
import { Problem, SignedOut } from "@matchday/client";
import { connect, type Code, type Schemas } from "@matchday/client/commitcollect";
import type { World } from "./world.js";

// Tess signs in on the page of the user pool, with a browser and with the app of her phone. The app uploads a run, which
// earns her a part of a model and a picture to show. At the end she deletes her account.
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

  const user = `tess-collects-${world.tag}`;
  assert.equal((await commitcollect.GET("/viewer")).signedIn, false);
  await signIn(options, user);
  assert.equal((await commitcollect.GET("/viewer")).signedIn, true);

  const models: string[] = [];
  for await (const page of commitcollect.pages("/models", { params: { query: { limit: 1 } } })) models.push(...page.models.map((m) => m.modelId));
  assert.ok(models.includes(modelId), models.join());

  const phone = connect(await world.phone("commitcollect", user));
  const now = Math.floor((await world.wait(0)).getTime() / 1000);
  const { milestoneId } = await phone.POST("/milestones", {
    body: { modelId, source: "PHONE", sport: "RUN", targetType: "DISTANCE_METERS", totalTarget: 10_000, periodStartAtUtc: now - 3600 },
  });
  const path = { milestoneId };

  const run: Schemas["UploadedWorkout"] = {
    id: `run-${world.tag}`,
    app: "HEALTHKIT",
    sport: "Run",
    startDateUtc: now - 1800,
    utcOffsetSeconds: 7200,
    distanceMeters: 5_200,
    elapsedSeconds: 1_510,
    movingSeconds: 1_500,
    elevationMeters: 40,
    indoor: false,
    manual: false,
    revision: 1,
  };
  for (const result of ["stored", "unchanged"]) {
    assert.deepEqual((await phone.PUT("/workouts", { body: { workouts: [run] } })).workouts, [{ id: run.id, result }]);
  }

  await world.wait(3660); // the run settles, and the access token of the phone expires
  const counted = await commitcollect.GET("/milestones/{milestoneId}", { params: { path } });
  assert.deepEqual([counted.progressValue, counted.partsEarnedCount, counted.partsAwardedCount], [5_200, 1, 1]);

  const { workouts } = await phone.GET("/milestones/{milestoneId}/workouts", { params: { path } });
  assert.deepEqual(workouts.map((w) => [w.counts, w.value]), [[true, 5_200]]);
  const { awards } = await phone.GET("/milestones/{milestoneId}/awards", { params: { path } });
  assert.deepEqual(awards.map((a) => a.partName), ["seat"]);

  const { pictureUrl } = await phone.PUT("/milestones/{milestoneId}/share", { params: { path } });
  assert.equal((await fetch(pictureUrl)).headers.get("Content-Type"), "image/png");
  assert.equal((await phone.PATCH("/preferences", { body: { units: "mi" } })).units, "mi");

  await commitcollect.DELETE("/account");
  const gone = await commitcollect.GET("/milestones").catch((error: unknown) => error);
  assert.ok(Problem.is<Code>(gone) && gone.status === 401, String(gone));
  await world.wait(1800); // the access token of the phone expires, and there is no user to refresh it for
  await assert.rejects(phone.GET("/milestones"), SignedOut);

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
