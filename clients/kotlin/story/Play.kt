package matchday.story

import kotlinx.coroutines.runBlocking
import kotlin.system.exitProcess

/** Plays the stories of rooms, one after the other: FLEET DOOR ROOM… It fails with the first that does not go as told. */
fun main(args: Array<String>) {
    require(args.size > 2) { "usage: FLEET DOOR ROOM…" }

    val world = World(args[0], args[1])

    runBlocking {
        for (room in args.drop(2)) {
            stories.getValue(room)(world)
            println(room)
        }
    }

    exitProcess(0) // idle connections keep the process for a minute
}
