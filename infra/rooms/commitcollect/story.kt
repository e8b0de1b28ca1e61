package matchday.story

import kotlinx.coroutines.flow.toList
import matchday.commitcollect.Commitcollect
import matchday.commitcollect.CreateMilestoneBody
import matchday.commitcollect.CreateMilestoneBodySport
import matchday.commitcollect.CreateMilestoneBodyTargetType
import matchday.commitcollect.PutModelBody
import matchday.commitcollect.PutPartBody
import matchday.commitcollect.UpdatePreferencesBody
import matchday.commitcollect.UpdatePreferencesBodyUnits
import matchday.commitcollect.UserUnits

// Tess signs in on the page of the user pool, begins to collect a model, and deletes her account.
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

    expect(false, commitcollect.getViewer().signedIn)
    val page = browser.follow(world.url("commitcollect") + "/auth/login")
    browser.follow(browser.follow(page, mapOf("user" to "tess-collects-${world.tag}")))
    expect(true, commitcollect.getViewer().signedIn)

    val models = commitcollect.listModelsPages(limit = 1).toList().flatMap { it.models }
    check(models.any { it.modelId == model }) { "$models lack $model" }

    val milestone = commitcollect.createMilestone(
        CreateMilestoneBody(
            modelId = model,
            sport = CreateMilestoneBodySport.RUN,
            targetType = CreateMilestoneBodyTargetType.DISTANCE_METERS,
            totalTarget = 42_195,
            periodStartAtUtc = world.wait(0).epochSecond - 60,
        ),
    ).milestoneId
    val begun = commitcollect.getMilestone(milestone)
    expect(42_195L to 0L, begun.totalTarget to begun.progressValue)

    val user = commitcollect.updatePreferences(UpdatePreferencesBody(units = UpdatePreferencesBodyUnits.MI))
    expect(UserUnits.MI, user.units)

    commitcollect.deleteAccount()
    expect(401, refused { commitcollect.listMilestones() }.status)
}
