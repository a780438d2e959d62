// A small picture that is asked for only if it stays in sight for a moment, and given up when it leaves.
import { useEffect, useRef } from "preact/hooks";
import { thumbnailOf } from "./api";

const PATIENCE_MS = 80;

export function Thumbnail({ picture }: { picture: number }) {
  const image = useRef<HTMLImageElement>(null);
  useEffect(() => {
    const element = image.current!;
    const timer = setTimeout(() => (element.src = thumbnailOf(picture)), PATIENCE_MS);
    return () => {
      clearTimeout(timer);
      element.removeAttribute("src");
    };
  }, [picture]);
  return <img ref={image} alt="" loading="lazy" decoding="async" draggable={false} fetchpriority="low" />;
}
