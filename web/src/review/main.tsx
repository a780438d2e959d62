// The page of groupcm review.
import "../shared/theme.css";
import "./layout.css";
import "./panels/threshold.css";
import "./wall/wall.css";
import "./detail/detail.css";
import { render } from "preact";
import { KeyHelp } from "../shared/ShortcutHelp";
import { listenToKeys } from "../shared/keyboard";
import { Notices, tellError } from "../shared/Notices";
import { panelStates, setCoveringPanels } from "../shared/SidePanels";
import { followAddress } from "./navigation";
import { CountsPanel } from "./panels/CountsPanel";
import { Detail } from "./detail/Detail";
import { Header } from "./panels/Header";
import { ALL_KEYS, keysNow } from "./shortcuts";
import { load } from "./sync/polling";
import { MarksPanel } from "./panels/MarksPanel";
import { OutdatedBar } from "./OutdatedBar";
import { isLarge, project } from "./state";
import { Threshold } from "./panels/ThresholdPanel";
import { Toolbar } from "./wall/WallToolbar";
import { Wall } from "./wall/Wall";

function Page() {
  return (
    <div class="review" {...panelStates.value}>
      <Header />
      <div id="left-panel" class="panel left-panel" role="region" aria-label="Threshold and counts">
        {project.value && (
          <>
            <Threshold />
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
            <Toolbar />
            <Wall />
          </>
        )}
      </main>
      <OutdatedBar />
      <Notices />
      <KeyHelp keys={ALL_KEYS} />
    </div>
  );
}

followAddress();
setCoveringPanels(["left"]);
listenToKeys(keysNow);
render(<Page />, document.getElementById("page")!);
load().catch(tellError);
