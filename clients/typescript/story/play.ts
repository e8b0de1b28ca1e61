// Plays the stories of rooms, one after the other: node play.js FLEET DOOR ROOM… It fails with the first that does not go as told.
import { World } from "./world.js";

const [fleet, door, ...rooms] = process.argv.slice(2);
if (fleet === undefined || door === undefined || rooms.length === 0) throw new Error("usage: play.js FLEET DOOR ROOM…");

const world = new World(fleet, door);

for (const room of rooms) {
  const { story } = (await import(`./${room}.js`)) as { story: (world: World) => Promise<void> };
  await story(world);
  console.log(room);
}
