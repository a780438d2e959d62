// Far jumps and scrolling take the current tile out of the document, and with it the focus.
import { useLayoutEffect, useRef } from "preact/hooks";

/** Give a tile the focus when it comes into the document as the current one and nothing else has it. */
export function useReturningFocus(isCurrent: boolean) {
  const link = useRef<HTMLAnchorElement>(null);
  useLayoutEffect(() => {
    if (isCurrent && document.activeElement === document.body) link.current?.focus({ preventScroll: true });
  }, []);
  return link;
}
