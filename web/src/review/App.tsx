// The layout of the review page: threshold and counts on the left, the wall or one picture on the right.
import { Notices } from "../shared/Notices";
import { ShortcutHelp } from "../shared/ShortcutHelp";
import { panelStates } from "../shared/SidePanels";
import { staleness } from "../shared/staleness";
import { Detail } from "./detail/Detail";
import { CountsPanel } from "./panels/CountsPanel";
import { Header } from "./panels/Header";
import { MarksPanel } from "./panels/MarksPanel";
import { ThresholdPanel } from "./panels/ThresholdPanel";
import { SHORTCUTS } from "./shortcuts";
import { isLarge, project } from "./state";
import { Wall } from "./wall/Wall";
import { WallToolbar } from "./wall/WallToolbar";

export function App() {
  return (
    <div class="review" {...panelStates.value}>
      <Header />
      <div id="left-panel" class="panel left-panel" role="region" aria-label="Threshold and counts">
        {project.value && (
          <>
            <ThresholdPanel />
            <CountsPanel />
            <MarksPanel />
          </>
        )}
      </div>
      <main>
        {isLarge.value && project.value ? (
          <Detail />
        ) : (
          <>
            <WallToolbar />
            <Wall />
          </>
        )}
      </main>
      <StaleBar />
      <Notices />
      <ShortcutHelp shortcuts={SHORTCUTS} />
    </div>
  );
}

/** Reports that the server now serves another project, and offers to reload. */
function StaleBar() {
  if (staleness.value === null) return null;
  return (
    <div id="outdated" class="outdated" role="alert">
      <p>{staleness.value}</p>
      <button onClick={() => location.reload()}>Reload</button>
    </div>
  );
}
