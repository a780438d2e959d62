// The entry point of the page of groupcm review.
import "../shared/theme.css";
import "./layout.css";
import "./panels/threshold.css";
import "./wall/wall.css";
import "./detail/detail.css";
import { render } from "preact";
import { listenForShortcuts } from "../shared/keyboard";
import { notifyError } from "../shared/Notices";
import { setCoveringPanels } from "../shared/SidePanels";
import { setMinScale } from "../shared/viewport";
import { App } from "./App";
import { followAddress } from "./navigation";
import { activeShortcuts } from "./shortcuts";
import { load } from "./sync/polling";

followAddress();
setCoveringPanels(["left"]);
setMinScale((fittedScale) => fittedScale / 2);
listenForShortcuts(activeShortcuts);
render(<App />, document.getElementById("page")!);
load().catch(notifyError);
