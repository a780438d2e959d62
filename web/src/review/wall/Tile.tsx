// One picture of the wall: thumbnail, winner's box, outcome and score.
import { Thumbnail } from "../../shared/Thumbnail";
import { open, openCurrentOnEnter } from "../navigation";
import { isAlarm, type Outcome } from "../results/outcomes";
import { useReturningFocus } from "../returning";
import { OutcomeLabel } from "../results/OutcomeLabel";
import { scoreText } from "../state";
import type { Result } from "../types";

interface Props {
  picture: number;
  name: string;
  result: Result | null;
  outcome: Outcome;
  isCurrent: boolean;
  place: number;
  of: number;
}

export function Tile({ picture, name, result, outcome, isCurrent, place, of }: Props) {
  const link = useReturningFocus(isCurrent);
  return (
    <div role="listitem" class="cell" aria-posinset={place + 1} aria-setsize={of}>
      <a
        ref={link}
        class="tile"
        href={`#${picture}`}
        data-picture={picture}
        data-outcome={outcome}
        data-marked={result?.mark ? "" : undefined}
        aria-current={isCurrent ? "true" : undefined}
        tabIndex={isCurrent ? 0 : -1}
        title={name}
        draggable={false}
        onKeyDown={openCurrentOnEnter}
        onClick={(event) => {
          if (event.ctrlKey || event.metaKey || event.shiftKey) return;
          event.preventDefault();
          open(picture);
        }}
      >
        <div class="tile-picture">
          {result?.error ? (
            <p class="tile-error">{result.error}</p>
          ) : (
            <Thumbnail picture={picture} />
          )}
          {result?.winner && <WinnerBox result={result} alarm={isAlarm(outcome)} />}
          {result?.mark && <span class="badge">to correct</span>}
        </div>
        <div class="spread tile-line">
          <OutcomeLabel outcome={outcome} />
          {result?.score != null && <span class="number">{scoreText(result.score)}</span>}
        </div>
        <div class="clip quiet tile-name">{name}</div>
      </a>
    </div>
  );
}

function WinnerBox({ result, alarm }: { result: Result; alarm: boolean }) {
  const [x, y, width, height] = result.winner!;
  return (
    <svg class={alarm ? "winner-box alarm" : "winner-box"} viewBox={`0 0 ${result.width} ${result.height}`} aria-hidden="true">
      <rect class="halo" x={x} y={y} width={width} height={height} />
      <rect x={x} y={y} width={width} height={height} />
    </svg>
  );
}
