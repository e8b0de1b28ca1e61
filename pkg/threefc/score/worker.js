// The worker of the scorekeeper's page keeps the page, which is the same for every session, and answers
// with it when the network does not: a reload without a network shows the page and its queue. It leaves
// all other requests alone, those to the API too.

const page = new URL("score/last", location).pathname;
const kept = caches.open("score");

addEventListener("install", (e) => e.waitUntil(kept.then((cache) => cache.add(page)).then(() => skipWaiting())));
addEventListener("activate", (e) => e.waitUntil(clients.claim()));
addEventListener("fetch", (e) => {
  if (e.request.mode === "navigate") e.respondWith(answer(e.request.url));
});

// answer returns the page of the network, or the kept one if there is no good answer in three seconds.
async function answer(url) {
  const cache = await kept;
  try {
    const out = await fetch(url, { signal: AbortSignal.timeout(3000) });
    if (out.ok) {
      await cache.put(page, out.clone());
      return out;
    }
  } catch {
    // there is no network
  }
  return await cache.match(page) ?? Response.error();
}
