// The cells of the wall: one tile per picture, or one row per unreadable picture.
import { useLayoutEffect, useRef } from "preact/hooks";
import { Thumbnail } from "../../shared/Thumbnail";
import { open, openCurrentOnEnter } from "../navigation";
import { OutcomeLabel } from "../results/OutcomeLabel";
import { isAlarm, type Outcome } from "../results/outcomes";
import { scoreText } from "../state";
import type { Result } from "../types";

interface CellProps {
  picture: number;
  name: string;
  result: Result | null;
  outcome: Outcome;
  isCurrent: boolean;
  place: number;
  of: number;
}

export function Tile({ picture, name, result, outcome, isCurrent, place, of }: CellProps) {
  const link = useRestoredFocus(isCurrent);
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

/** A picture that could not be read, with the reason. */
export function UnreadableRow({ picture, name, result, isCurrent, place, of }: Omit<CellProps, "outcome">) {
  const link = useRestoredFocus(isCurrent);
  return (
    <div role="listitem" class="cell" aria-posinset={place + 1} aria-setsize={of}>
      <a
        ref={link}
        class="unreadable"
        href={`#${picture}`}
        data-picture={picture}
        data-outcome="unreadable"
        aria-current={isCurrent ? "true" : undefined}
        tabIndex={isCurrent ? 0 : -1}
        onKeyDown={openCurrentOnEnter}
        onClick={(event) => {
          event.preventDefault();
          open(picture);
        }}
      >
        <OutcomeLabel outcome="unreadable" />
        <strong class="clip">{name}</strong>
        <span class="clip quiet" title={result?.error ?? ""}>
          {result?.error}
        </span>
      </a>
    </div>
  );
}

/**
 * Focus a cell that enters the document as the current one while nothing else has the focus.
 *
 * Far jumps and scrolling remove the current cell, and with it the focus, from the document.
 */
function useRestoredFocus(isCurrent: boolean) {
  const link = useRef<HTMLAnchorElement>(null);
  useLayoutEffect(() => {
    if (isCurrent && document.activeElement === document.body) link.current?.focus({ preventScroll: true });
  }, []);
  return link;
}
