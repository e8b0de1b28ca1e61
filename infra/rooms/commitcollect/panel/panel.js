// The CommitCollect tab: the app of the user me, as the API answers, and that user's
// athlete at the simulated Strava.

import { $, again, el, fleetNow, hms, keyed, press, put, room, span } from "/console/base.js";

let view; // as last told
let had = null; // the parts that were minted when the page was last drawn, and of which milestone

const km = (metres) => `${(metres / 1000).toLocaleString("en", { maximumFractionDigits: 1 })} km`;
const families = { RUN: "running", RIDE: "riding", SWIM: "swimming" };
const states = { ACTIVE: "active", PAUSED: "paused", COMPLETED: "completed", ABANDONED: "abandoned", ENDED: "ended" };

// drawPart returns part n of the model, by the strokes of which the picture of a milestone is made, too.
function drawPart({ drawing }, n) {
  const svg = (name, attributes) => {
    const node = document.createElementNS("http://www.w3.org/2000/svg", name);
    for (const [key, value] of Object.entries(attributes)) node.setAttribute(key, value);
    return node;
  };
  const g = svg("g", { "data-part": n });
  g.append(...drawing.map((s) => svg("path", { d: s.path, class: s.style.toLowerCase() })));
  return g;
}

function drawModel(m) {
  if (!$("model").querySelector("g")) $("model").append(...view.parts.map((p, i) => drawPart(p, i + 1)));
  const minted = new Map((m?.awards ?? []).map((a) => [a.partIndex, a]));
  const before = had && had.id === m?.milestoneId ? had.parts : null;
  for (const g of document.querySelectorAll("#model [data-part]")) {
    const n = Number(g.dataset.part), is = minted.has(n);
    g.classList.toggle("minted", is);
    if (is && before && !before.has(n)) again(g, "fresh");
  }
  had = { id: m?.milestoneId, parts: new Set(minted.keys()) };
  put($("model-says"), `${minted.size} of ${view.parts.length} parts of the tricycle are minted`);
  keyed($("parts"), view.parts.map((_, i) => `${i + 1}`), () => el("li")).forEach((li, i) => {
    put(li, view.parts[i].name);
    li.classList.toggle("minted", minted.has(i + 1));
  });
}

function drawGoal(m) {
  put($("goal"), m ? `${km(m.totalTarget)} of ${families[m.sport]}` : "No milestone");
  put($("goal-about"), m ? `${m.partsAwardedCount} of ${m.partsTotal} parts · ${states[m.state]}${m.rawProgress < m.progressValue ? ` · ${km(m.rawProgress)} of the workouts are left, progress stays` : ""}` : "");
  put($("metres").firstElementChild, m ? km(m.progressValue) : "");
  put($("metres").lastElementChild, !m ? "" : m.status === "COMPLETED" ? "the model is complete" : `${km(m.remainingToNextPart)} to the next part`);
  $("progress").firstElementChild.style.width = `${m?.percentComplete ?? 0}%`;
  $("progress").setAttribute("aria-valuenow", m?.percentComplete ?? 0);
  put($("collect-pause"), m?.status === "PAUSED" ? "resume the milestone" : "pause the milestone");
  $("collect-pause").disabled = !m || !["ACTIVE", "PAUSED"].includes(m.state);
  put($("collect-share"), m?.pictureUrl ? "end the public picture" : "share a picture");
  $("collect-share").disabled = !m;
  $("collect-picture").hidden = !m?.pictureUrl;
  $("collect-picture").href = m?.pictureUrl ?? "";
}

function drawWorkouts(m) {
  const all = view.workouts ?? [], linked = view.viewer.strava?.connected;
  put($("workouts-about"), linked ? (view.viewer.strava.broken ? "Strava must be connected again" : `Strava is connected: athlete ${view.viewer.strava.athleteId}`) : "Strava is not connected");
  put($("collect-link"), linked && !view.viewer.strava.broken ? "disconnect Strava" : "connect Strava");
  keyed($("workouts"), all.map((w) => w.activityId), (id) => {
    const why = el("button", { type: "button" }, "why?"), drop = el("button", { type: "button" }, "delete");
    why.addEventListener("click", () => press("commitcollect/why", { activity: id, milestone: view.milestone?.milestoneId ?? "" }, $("why-said")));
    drop.addEventListener("click", () => press("commitcollect/delete", { activity: id }, $("why-said")));
    return el("li", {}, el("b"), el("small"), el("div", { className: "buttons" }, why, drop));
  }).forEach((li, i) => {
    const w = all[i], [name, about, buttons] = li.children;
    put(name, w.name);
    put(about, `${w.sportType} · ${km(w.distance)} · ${span(fleetNow() - Date.parse(w.startedAt))} ago`);
    buttons.firstElementChild.disabled = !m;
    buttons.firstElementChild.setAttribute("aria-label", `Why does ${w.name} of ${km(w.distance)} count, or not?`);
    buttons.lastElementChild.setAttribute("aria-label", `Delete ${w.name} of ${km(w.distance)} at Strava`);
  });
}

const events = {
  AUTH_SIGNUP: "The user signed up", AUTH_LOGIN: "The user signed in", AUTH_LOGOUT: "The user signed out", STRAVA_AUTHORIZE: "Strava was connected", STRAVA_DEAUTHORIZE: "Strava was disconnected",
  STRAVA_REFRESH: "Strava refused to renew the access", STRAVA_ACTIVITY_CREATE: "Strava told of a new activity, and it was fetched", STRAVA_ACTIVITY_UPDATE: "Strava told of a change, and the activity was fetched",
  STRAVA_ACTIVITY_DELETE: "An activity was deleted at Strava", MILESTONE_PART_MINTED: "Minted",
};

function drawPhone() {
  const phone = view.phone, seen = phone.milestone;
  put($("phone-about"), !phone.signedIn ? "Nobody is signed in on the phone" : `signed in by a token until ${hms.format(Date.parse(phone.until))}, then refreshed`);
  put($("phone-parts"), phone.wrong ?? (seen ? `${seen.partsAwardedCount} of ${seen.partsTotal} parts on the phone` : ""));
  $("phone-in").disabled = phone.signedIn;
  for (const id of ["phone-start", "phone-out"]) $(id).disabled = !phone.signedIn;
}

function drawStory() {
  keyed($("story"), (view.trail ?? []).map((e) => e.id), () => el("li", {}, el("time"), el("span"))).forEach((li, i) => {
    const e = view.trail[i], part = e.event === "MILESTONE_PART_MINTED" ? `: ${view.parts[e.data?.partIndex - 1]?.name ?? "a part"}` : "";
    put(li.firstElementChild, hms.format(Date.parse(e.occurredAt)));
    put(li.lastElementChild, `${events[e.event] ?? e.event}${part}`);
    li.lastElementChild.className = e.result === "failed" ? "failed" : part ? "minted" : "";
  });
}

function drawCollect() {
  view = room.collect;
  for (const id of ["collect", "workouts-panel", "phone", "story-panel"]) $(id).hidden = false;
  const m = view.milestone;
  drawGoal(m);
  drawModel(m);
  drawWorkouts(m);
  drawPhone();
  drawStory();
}

for (const b of document.querySelectorAll("[data-go]")) {
  b.addEventListener("click", () => press("commitcollect/go", JSON.parse(b.dataset.go), $("collect-said")));
}
$("collect-pause").addEventListener("click", () => press("commitcollect/set", { milestone: view.milestone.milestoneId, status: view.milestone.status === "PAUSED" ? "ACTIVE" : "PAUSED" }, $("collect-said")));
$("collect-share").addEventListener("click", () => press(`commitcollect/${view.milestone.pictureUrl ? "unshare" : "share"}`, { milestone: view.milestone.milestoneId }, $("collect-said")));
$("collect-start").addEventListener("click", () => press("commitcollect/start", { sport: "RUN", total: 42195 }, $("collect-said")));
$("collect-link").addEventListener("click", () => press(`commitcollect/${$("collect-link").textContent.split(" ")[0]}`, {}, $("collect-said")));
for (const id of ["phone-in", "phone-start", "phone-out"]) {
  $(id).addEventListener("click", () => press(`commitcollect/${id}`, {}, $("phone-said")));
}

export const draw = { collect: drawCollect };
