// Outlines of many candidates, made a few milliseconds a frame, so that the page never stalls.
import { useEffect, useState } from "preact/hooks";

const MILLISECONDS_A_FRAME = 10;

export function useOutlines<Item>(items: readonly Item[], outline: (item: Item) => string): string[] {
  const [made, setMade] = useState<{ of: readonly Item[]; paths: string[] }>({ of: [], paths: [] });
  useEffect(() => {
    const paths: string[] = [];
    let frame = 0;
    const work = () => {
      const until = performance.now() + MILLISECONDS_A_FRAME;
      while (paths.length < items.length && performance.now() < until) paths.push(outline(items[paths.length]!));
      setMade({ of: items, paths: [...paths] });
      if (paths.length < items.length) frame = requestAnimationFrame(work);
    };
    work();
    return () => cancelAnimationFrame(frame);
  }, [items]);
  return made.of === items ? made.paths : [];
}
