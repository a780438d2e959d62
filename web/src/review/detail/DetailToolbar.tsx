// The toolbar of the large picture: navigation, and what is drawn over it.
import type { ComponentChildren } from "preact";
import { PanelButton } from "../../shared/SidePanels";
import { fit, zoomBy } from "../../shared/viewport";
import { whole } from "../formatting";
import { close, go } from "../navigation";
import { hasTruth, pictureAt, place, shown } from "../state";
import { candidatesAreShown, truthIsShown } from "./openPicture";

const ZOOM = 1.4;

export function DetailToolbar({ name }: { name: string }) {
  const last = shown.value.length - 1;
  return (
    <div class="toolbar">
      <button onClick={close} title="Back to the wall (Esc)">
        ← Wall
      </button>
      <IconButton icon="‹" title="Previous" letter="K" disabled={place.value === 0} onClick={() => go(pictureAt(-1))} />
      <IconButton icon="›" title="Next" letter="J" disabled={place.value === last} onClick={() => go(pictureAt(1))} />
      {place.value >= 0 && (
        <span class="quiet number unbroken">
          {whole(place.value + 1)} of {whole(last + 1)}
        </span>
      )}
      <b class="clip" id="name" title={name}>
        {name}
      </b>
      <span class="grow" />
      <Toggle isOn={candidatesAreShown}>
        Candidates <kbd>C</kbd>
      </Toggle>
      {hasTruth.value && (
        <Toggle isOn={truthIsShown}>
          Truth <kbd>T</kbd>
        </Toggle>
      )}
      <PanelButton side="right" title="About this picture" controls="detail-panel" />
    </div>
  );
}

export const ZoomButtons = () => (
  <span class="row zoom">
    <IconButton icon="−" title="Zoom out" letter="-" onClick={() => zoomBy(1 / ZOOM)} />
    <button onClick={fit} title="Fit (0)">
      Fit
    </button>
    <IconButton icon="+" title="Zoom in" letter="+" onClick={() => zoomBy(ZOOM)} />
  </span>
);

function Toggle({ isOn, children }: { isOn: { value: boolean }; children: ComponentChildren }) {
  return (
    <button class="unbroken" aria-pressed={isOn.value} onClick={() => (isOn.value = !isOn.value)}>
      {children}
    </button>
  );
}

interface IconButtonProps {
  icon: string;
  title: string;
  letter: string;
  disabled?: boolean;
  onClick: () => void;
}

const IconButton = ({ icon, title, letter, disabled, onClick }: IconButtonProps) => (
  <button class="sign-button" title={`${title} (${letter})`} aria-label={title} disabled={disabled} onClick={onClick}>
    {icon}
  </button>
);
