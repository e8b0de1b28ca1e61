// The 3FC tab: it leads to the room's own pages.

import { $, press, put, room } from "/console/base.js";

function drawScorer() {
  const at = room.threefc;
  $("scorer").hidden = !at.page; // until there is a game
  put($("visitor"), at.email);
  $("score").href = at.score;
  $("public").href = at.page;
}

$("new-game").addEventListener("click", () => press("threefc/game", {}, $("scorer-said")));

export const draw = { threefc: drawScorer };
