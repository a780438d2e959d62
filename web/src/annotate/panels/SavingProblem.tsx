// Why something is not saved, in full, as long as it is not.
import { savingState } from "../sync/saving";

export function SavingProblem() {
  const { why } = savingState.value;
  return (
    <div class="saving-problem" role="status" aria-live="polite">
      {why !== null && <div class="notice bad">Not saved: {why}</div>}
    </div>
  );
}
