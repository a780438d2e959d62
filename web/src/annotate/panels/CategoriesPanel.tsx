// The panel of categories: choose, add, rename and delete them.
import { useSignal } from "@preact/signals";
import { notify } from "../../shared/Notices";
import { addCategory, deleteCategory, renameCategory } from "../categories";
import { setCategory } from "../edits";
import { focusStage } from "../stage/stageElement";
import { categories, category, chosen, project, selected } from "../state";
import { CategoryChip } from "./CategoryChip";
import { openCategoryPicker } from "./CategoryPicker";

export function CategoriesPanel() {
  const renamed = useSignal<string | null>(null);
  return (
    <section id="categories" aria-label="Categories">
      <h2 title="Keys 1 to 9, or T to search">Category of the {chosen.value ? "selected" : "next"} object</h2>
      {selected.value && !chosen.value && (
        <p class="quiet after-drawing">
          <kbd>V</kbd> selects the object just drawn.
        </p>
      )}
      <ul class="plain-list">
        {categories.value.map((name) => (
          <li key={name} class="entry" data-category={name}>
            {renamed.value === name ? (
              <NameField
                label={`New name of ${name}`}
                value={name}
                done={(after) => {
                  renamed.value = null;
                  if (after !== null) void renameCategory(name, after);
                }}
              />
            ) : (
              <>
                <button
                  class="plain entry-choice"
                  aria-pressed={(chosen.value?.category ?? category.value) === name}
                  onClick={() => setCategory(name)}
                  onDblClick={() => (renamed.value = name)}
                >
                  <CategoryChip category={name} />
                  <span class="clip" title={name}>
                    {name}
                  </span>
                </button>
                <span class="entry-actions">
                  <button
                    class="plain small"
                    title={`Rename ${name}`}
                    aria-label={`Rename ${name}`}
                    onClick={() => (renamed.value = name)}
                  >
                    ✎
                  </button>
                  <button
                    class="plain small"
                    title={`Delete ${name}, if it is unused`}
                    aria-label={`Delete category ${name}`}
                    onClick={() => void deleteCategory(name)}
                  >
                    ×
                  </button>
                </span>
              </>
            )}
          </li>
        ))}
      </ul>
      <NewCategory />
      <button id="find-category" class="plain quiet" onClick={() => openCategoryPicker()}>
        Find a category <kbd>T</kbd>
      </button>
    </section>
  );
}

function NewCategory() {
  const isOpen = useSignal(false);
  if (!isOpen.value) {
    return (
      <button id="add-category" class="plain quiet" onClick={() => (isOpen.value = true)}>
        + Add a category
      </button>
    );
  }
  const add = async (name: string | null) => {
    if (name === null || name.trim() === "" || (await addCategory(name.trim()))) isOpen.value = false;
  };
  return <NameField label="Name of the new category" value="" done={(name) => void add(name)} />;
}

/** Enter confirms the name; Escape or leaving the field cancels. */
function NameField({ label, value, done }: { label: string; value: string; done: (name: string | null) => void }) {
  const limit = project.value!.category_limit;
  const end = (name: string | null) => {
    const length = [...(name ?? "").trim()].length;
    if (length > limit) return notify(`The name has ${length} characters; a category may have ${limit}.`, { isError: true });
    done(name);
    focusStage();
  };
  return (
    <input
      type="text"
      class="name-field"
      aria-label={label}
      placeholder="Name, then Enter"
      defaultValue={value}
      ref={(field) => field?.focus()}
      onKeyDown={(event) => {
        if (event.key === "Enter") end(event.currentTarget.value);
        else if (event.key === "Escape") end(null);
      }}
      onBlur={() => done(null)}
    />
  );
}
