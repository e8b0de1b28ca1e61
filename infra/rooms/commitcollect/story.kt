package matchday.story

import kotlinx.coroutines.flow.toList
import matchday.SignedOut
import matchday.commitcollect.Commitcollect
import matchday.commitcollect.CreateMilestoneBody
import matchday.commitcollect.CreateMilestoneBodySource
import matchday.commitcollect.CreateMilestoneBodySport
import matchday.commitcollect.CreateMilestoneBodyTargetType
import matchday.commitcollect.PutModelBody
import matchday.commitcollect.PutPartBody
import matchday.commitcollect.PutWorkoutsBody
import matchday.commitcollect.UpdatePreferencesBody
import matchday.commitcollect.UpdatePreferencesBodyUnits
import matchday.commitcollect.UploadOutcomeResult
import matchday.commitcollect.UploadedWorkout
import matchday.commitcollect.UploadedWorkoutApp
import matchday.commitcollect.UserUnits

// Tess signs in on the page of the user pool, with a browser and with the app of her phone. The app uploads a run, which
// earns her a part of a model and a picture to show. At the end she deletes her account.
suspend fun commitcollect(world: World) {
    val office = Commitcollect(world.administrator("commitcollect"))
    val browser = world.browser()
    val commitcollect = Commitcollect(world.client("commitcollect", browser))
    val model = "sledge-${world.tag}"

    office.putModel(model, PutModelBody(name = "Sledge", year = 2026, partsTotal = 2))
    listOf("seat", "runners").forEachIndexed { i, part ->
        val place = i + 1L
        office.putPart(model, place, PutPartBody(partName = part, meshFile = "$model/$part.glb", attachPoint = part, displayOrder = place))
    }
    office.activateModel(model)

    val name = "tess-collects-${world.tag}"
    expect(false, commitcollect.getViewer().signedIn)
    val page = browser.follow(world.url("commitcollect") + "/auth/login")
    browser.follow(browser.follow(page, mapOf("user" to name)))
    expect(true, commitcollect.getViewer().signedIn)

    val models = commitcollect.listModelsPages(limit = 1).toList().flatMap { it.models }
    check(models.any { it.modelId == model }) { "$models lack $model" }

    val phone = Commitcollect(world.phone("commitcollect", name))
    val now = world.wait(0).epochSecond
    val milestone = phone.createMilestone(
        CreateMilestoneBody(
            modelId = model,
            source = CreateMilestoneBodySource.PHONE,
            sport = CreateMilestoneBodySport.RUN,
            targetType = CreateMilestoneBodyTargetType.DISTANCE_METERS,
            totalTarget = 10_000,
            periodStartAtUtc = now - 3600,
        ),
    ).milestoneId

    val run = UploadedWorkout(
        id = "run-${world.tag}",
        app = UploadedWorkoutApp.HEALTH_CONNECT,
        sport = "Run",
        startDateUtc = now - 1800,
        utcOffsetSeconds = 7200,
        distanceMeters = 5_200,
        elapsedSeconds = 1_510,
        movingSeconds = 1_500,
        elevationMeters = 40,
        indoor = false,
        manual = false,
        revision = 1,
    )
    for (result in listOf(UploadOutcomeResult.STORED, UploadOutcomeResult.UNCHANGED)) {
        expect(listOf(run.id to result), phone.putWorkouts(PutWorkoutsBody(listOf(run))).workouts.map { it.id to it.result })
    }

    world.wait(3660) // the run settles, and the access token of the phone expires
    val counted = commitcollect.getMilestone(milestone)
    expect(listOf(5_200L, 1L, 1L), listOf(counted.progressValue, counted.partsEarnedCount, counted.partsAwardedCount))
    expect(listOf(true to 5_200L), phone.listVerdicts(milestone).workouts.map { it.counts to it.value })
    expect(listOf("seat"), phone.listAwards(milestone).awards.map { it.partName })
    expect("image/png", world.contentType(phone.putShare(milestone).pictureUrl))

    val user = phone.updatePreferences(UpdatePreferencesBody(units = UpdatePreferencesBodyUnits.MI))
    expect(UserUnits.MI, user.units)

    commitcollect.deleteAccount()
    expect(401, refused { commitcollect.listMilestones() }.status)

    world.wait(1800) // the access token of the phone expires, and there is no user to refresh it for
    val signedOut = try {
        "${phone.listMilestones()}"
    } catch (e: SignedOut) {
        ""
    }
    expect("", signedOut)
}
