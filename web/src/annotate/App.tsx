// The layout of the annotate page: pictures on the left, the stage in the middle, objects on the right.
import { Notices } from "../shared/Notices";
import { ShortcutHelp } from "../shared/ShortcutHelp";
import { panelStates } from "../shared/SidePanels";
import { CategoryPicker } from "./panels/CategoryPicker";
import { Header } from "./panels/Header";
import { Decision, ObjectsPanel } from "./panels/ObjectsPanel";
import { PictureList } from "./panels/PictureList";
import { SavingProblem, StaleDialog } from "./panels/SavingStatus";
import { StatusBar } from "./panels/StatusBar";
import { Toolbar } from "./panels/Toolbar";
import { SHORTCUTS } from "./shortcuts";
import { Stage } from "./stage/Stage";

export function App() {
  return (
    <div class="page" {...panelStates.value}>
      <Header />
      <PictureList />
      <main class="middle" aria-label="Picture">
        <Toolbar />
        <Stage />
        <StatusBar />
      </main>
      <Decision />
      <ObjectsPanel />
      <ShortcutHelp shortcuts={SHORTCUTS} />
      <CategoryPicker />
      <SavingProblem />
      <StaleDialog />
      <Notices />
    </div>
  );
}
