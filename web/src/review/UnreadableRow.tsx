// A picture that could not be read, with the sentence that says why.
import { open, openCurrentOnEnter } from "./navigation";
import { useReturningFocus } from "./returning";
import { OutcomeLabel } from "./results/OutcomeLabel";
import type { Result } from "./types";

interface Props {
  picture: number;
  name: string;
  result: Result | null;
  isCurrent: boolean;
  place: number;
  of: number;
}

export function UnreadableRow({ picture, name, result, isCurrent, place, of }: Props) {
  const link = useReturningFocus(isCurrent);
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
