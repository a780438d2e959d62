// The page: pictures to the left, the picture in the middle, its objects to the right.
import { KeyHelp } from "../shared/ShortcutHelp";
import { Notices } from "../shared/Notices";
import { panelStates } from "../shared/SidePanels";
import { KEYS } from "./shortcuts";
import { CategoryPicker } from "./panels/CategoryPicker";
import { Header } from "./panels/Header";
import { Decision, ObjectsPanel } from "./panels/ObjectsPanel";
import { PictureList } from "./panels/PictureList";
import { SavingProblem } from "./panels/SavingProblem";
import { StaleDialog } from "./panels/StaleDialog";
import { StatusBar } from "./panels/StatusBar";
import { Toolbar } from "./panels/Toolbar";
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
      <KeyHelp keys={KEYS} />
      <CategoryPicker />
      <SavingProblem />
      <StaleDialog />
      <Notices />
    </div>
  );
}
