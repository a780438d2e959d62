// A thumbnail that is requested once it has been visible for a moment, and cancelled when it leaves.
import { useEffect, useRef } from "preact/hooks";
import { thumbnailOf } from "./api";

const DELAY_MS = 80;

export function Thumbnail({ picture }: { picture: number }) {
  const image = useRef<HTMLImageElement>(null);
  useEffect(() => {
    const element = image.current!;
    const timer = setTimeout(() => (element.src = thumbnailOf(picture)), DELAY_MS);
    return () => {
      clearTimeout(timer);
      element.removeAttribute("src");
    };
  }, [picture]);
  return <img ref={image} alt="" loading="lazy" decoding="async" draggable={false} fetchpriority="low" />;
}
