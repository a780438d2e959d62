// The list of annotations to correct: how many, the export, and the command that goes on with it.
import { tell } from "../shared/notices";
import { whole } from "./numbers";
import { marked, project, threshold } from "./state";

/** As a shell reads it. */
const quoted = (word: string) => (/^[\w./@%+=:,-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`);

export function MarksPanel() {
  const command = project.value!.annotate.map(quoted).join(" ");
  const copy = () =>
    navigator.clipboard.writeText(command).then(
      () => tell("The command is copied."),
      () => tell("Select the command and copy it."),
    );
  return (
    <section aria-label="Annotations to correct">
      <div class="spread">
        <h2>To correct</h2>
        <b id="marked-count" class="number">
          {whole(marked.value)}
        </b>
      </div>
      {marked.value > 0 ? (
        <>
          <p class="quiet">This command shows the marked pictures first:</p>
          <div class="command">
            <code id="annotate-command">{command}</code>
            <button class="plain" onClick={copy}>
              Copy
            </button>
          </div>
        </>
      ) : (
        <p class="quiet">
          Press <kbd>M</kbd> where the annotation is wrong.
        </p>
      )}
      <a id="export" class="button" href={`/api/export?threshold=${threshold.value}`} download>
        Export list
      </a>
    </section>
  );
}
