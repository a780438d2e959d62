// The page of groupcm review.
import "../shared/theme.css";
import "./layout.css";
import "./threshold.css";
import "./wall.css";
import "./detail.css";
import { render } from "preact";
import { KeyHelp } from "../shared/KeyHelp";
import { listenToKeys } from "../shared/keys";
import { Notices, tellError } from "../shared/notices";
import { panelStates, setCoveringPanels } from "../shared/side_panels";
import { followAddress } from "./address";
import { CountsPanel } from "./CountsPanel";
import { Detail } from "./Detail";
import { Header } from "./Header";
import { ALL_KEYS, keysNow } from "./keys";
import { load } from "./loading";
import { MarksPanel } from "./MarksPanel";
import { OutdatedBar } from "./OutdatedBar";
import { isLarge, project } from "./state";
import { Threshold } from "./Threshold";
import { Toolbar } from "./Toolbar";
import { Wall } from "./Wall";

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
