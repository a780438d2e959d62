// Ways on and back, and what lies over the large picture.
import type { ComponentChildren } from "preact";
import { PanelButton } from "../../shared/SidePanels";
import { close, go } from "../navigation";
import { showsCandidates, showsTruth } from "./openPicture";
import { whole } from "../formatting";
import { fitToStage, zoom } from "./viewport";
import { knowsTruth, pictureAt, place, shown } from "../state";

const ZOOM = 1.4;

export function DetailToolbar({ name }: { name: string }) {
  const last = shown.value.length - 1;
  return (
    <div class="toolbar">
      <button onClick={close} title="Back to the wall (Esc)">
        ← Wall
      </button>
      <SignButton sign="‹" title="Previous" letter="K" disabled={place.value === 0} onClick={() => go(pictureAt(-1))} />
      <SignButton sign="›" title="Next" letter="J" disabled={place.value === last} onClick={() => go(pictureAt(1))} />
      {place.value >= 0 && (
        <span class="quiet number unbroken">
          {whole(place.value + 1)} of {whole(last + 1)}
        </span>
      )}
      <b class="clip" id="name" title={name}>
        {name}
      </b>
      <span class="grow" />
      <Toggle shows={showsCandidates}>
        Candidates <kbd>C</kbd>
      </Toggle>
      {knowsTruth.value && (
        <Toggle shows={showsTruth}>
          Truth <kbd>T</kbd>
        </Toggle>
      )}
      <PanelButton side="right" title="About this picture" controls="beside" />
    </div>
  );
}

export const ZoomButtons = () => (
  <span class="row zoom">
    <SignButton sign="−" title="Smaller" letter="-" onClick={() => zoom(1 / ZOOM)} />
    <button onClick={fitToStage} title="Fit (0)">
      Fit
    </button>
    <SignButton sign="+" title="Larger" letter="+" onClick={() => zoom(ZOOM)} />
  </span>
);

function Toggle({ shows, children }: { shows: { value: boolean }; children: ComponentChildren }) {
  return (
    <button class="unbroken" aria-pressed={shows.value} onClick={() => (shows.value = !shows.value)}>
      {children}
    </button>
  );
}

interface SignButtonProps {
  sign: string;
  title: string;
  letter: string;
  disabled?: boolean;
  onClick: () => void;
}

const SignButton = ({ sign, title, letter, disabled, onClick }: SignButtonProps) => (
  <button class="sign-button" title={`${title} (${letter})`} aria-label={title} disabled={disabled} onClick={onClick}>
    {sign}
  </button>
);
