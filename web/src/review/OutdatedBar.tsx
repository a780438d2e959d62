// Says that the server now shows something else, and offers to show that.
import { outdated } from "./sync/staleness";

export function OutdatedBar() {
  if (outdated.value === null) return null;
  return (
    <div id="outdated" class="outdated" role="alert">
      <p>{outdated.value}</p>
      <button onClick={() => location.reload()}>Reload</button>
    </div>
  );
}
