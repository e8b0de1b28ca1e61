// A sample: the match on the Lock Screen and in the Dynamic Island. Add it to a widget extension, change
// what you like, and list MatchLiveActivity in the extension's WidgetBundle.

import ActivityKit
import SwiftUI
import WidgetKit

struct MatchLiveActivity: Widget {
    var body: some WidgetConfiguration {
        ActivityConfiguration(for: MatchActivityAttributes.self) { context in
            LockScreen(state: context.state, isStale: context.isStale)
                .widgetURL(URL(string: "matchday://matches/\(context.attributes.matchId)"))
        } dynamicIsland: { context in
            let state = context.state

            return DynamicIsland {
                DynamicIslandExpandedRegion(.leading) { SideView(side: state.local) }
                DynamicIslandExpandedRegion(.trailing) { SideView(side: state.visitor) }
                DynamicIslandExpandedRegion(.bottom) {
                    Text(state.headline).font(.headline)
                    if let detail = state.detail { Text(detail).font(.caption) }
                }
            } compactLeading: {
                Text(state.batting?.code ?? state.local.code ?? state.local.name)
            } compactTrailing: {
                Text(state.batting?.score ?? state.local.score ?? "v")
            } minimal: {
                Text(state.batting?.score ?? "v")
            }
            .widgetURL(URL(string: "matchday://matches/\(context.attributes.matchId)"))
        }
    }
}

extension MatchActivityAttributes.ContentState {
    /// The side that bats, if one does.
    var batting: MatchActivityAttributes.Side? {
        [local, visitor].first { $0.batting == true }
    }
}

private struct LockScreen: View {
    let state: MatchActivityAttributes.ContentState
    let isStale: Bool

    var body: some View {
        VStack(alignment: .leading, spacing: 6) {
            HStack {
                SideView(side: state.local)
                Spacer()
                SideView(side: state.visitor)
            }
            Text(state.headline).font(.headline).lineLimit(2)
            if let detail = state.detail {
                Text(detail).font(.subheadline).foregroundStyle(.secondary)
            }
            if let balls = state.lastSix {
                Text(balls.joined(separator: "  ")).font(.caption.monospaced())
            }
            if isStale {
                Text("The score may have changed").font(.caption2).foregroundStyle(.secondary)
            }
        }
        .padding()
        .accessibilityElement(children: .ignore)
        .accessibilityLabel(state.spoken ?? state.headline)
    }
}

private struct SideView: View {
    let side: MatchActivityAttributes.Side

    var body: some View {
        VStack(alignment: .leading) {
            Text(side.code ?? side.name).font(.caption).bold(side.batting == true)
            Text(side.score ?? " ").font(.title3.monospacedDigit())
            if let overs = side.overs { Text("\(overs) ov").font(.caption2) }
        }
    }
}
