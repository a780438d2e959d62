// The menu for export to, and import from, every format.
import { useEffect, useRef } from "preact/hooks";
import { menuIsOpen, project } from "../state";
import { chooseImport, exportAs, exportPath } from "../sync/importExport";
import { ImportDialog, Skipped } from "./ImportDialog";

export function ImportExportMenu() {
  const menu = useRef<HTMLDivElement>(null);
  const file = useRef<HTMLInputElement>(null);
  useEffect(() => {
    const closeOutside = (event: Event) => {
      if (!menu.current?.contains(event.target as Node)) menuIsOpen.value = false;
    };
    window.addEventListener("pointerdown", closeOutside);
    window.addEventListener("focusin", closeOutside);
    return () => {
      window.removeEventListener("pointerdown", closeOutside);
      window.removeEventListener("focusin", closeOutside);
    };
  }, []);
  return (
    <div class="menu" ref={menu}>
      <button id="exchange" class="one-line" aria-expanded={menuIsOpen.value} onClick={() => (menuIsOpen.value = !menuIsOpen.value)}>
        Export, import
      </button>
      {menuIsOpen.value && (
        <div class="menu-items">
          <h2>Export as</h2>
          {project.value!.formats.map(({ name, title, folder }) => (
            <a
              key={name}
              href={exportPath(name)}
              download
              data-format={name}
              onClick={(event) => {
                event.preventDefault();
                menuIsOpen.value = false;
                void exportAs(name);
              }}
            >
              {title} {folder && <span class="quiet">zip</span>}
            </a>
          ))}
          <h2>Import</h2>
          <button id="import" class="plain" onClick={() => file.current!.click()}>
            From a file…
          </button>
        </div>
      )}
      <input
        ref={file}
        id="import-file"
        type="file"
        hidden
        aria-label="File to import"
        onChange={(event) => {
          const chosen = event.currentTarget.files?.[0];
          event.currentTarget.value = "";
          menuIsOpen.value = false;
          if (chosen) chooseImport(chosen);
        }}
      />
      <ImportDialog />
      <Skipped />
    </div>
  );
}
