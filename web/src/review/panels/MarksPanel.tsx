// The list of annotations to correct: how many, the export, and the command that goes on with it.
import { download } from "../../shared/api";
import { tell, tellError } from "../../shared/Notices";
import { settleThreshold } from "../threshold";
import { whole } from "../formatting";
import { marked, names, project, shown, threshold, thresholdText } from "../state";

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
          Mark pictures whose annotation is wrong. <kbd>M</kbd>
        </p>
      )}
      <ExportButton />
    </section>
  );
}

/** What the list shows, in its order, with the threshold of the page. */
function ExportButton() {
  const [n, all] = [shown.value.length, names.value.length];
  const pictures = n === 1 ? "picture" : "pictures";
  const save = () => {
    settleThreshold();
    download("/api/export", { pictures: shown.peek(), threshold: threshold.peek() }).catch(tellError);
  };
  return (
    <>
      <button id="export" disabled={n === 0} onClick={save}>
        {n === all ? `Export all ${whole(n)} ${pictures}` : `Export the ${whole(n)} ${pictures} shown`}
      </button>
      <p class="quiet" id="export-note">
        CSV in the order of the list, with alarms from {thresholdText(threshold.value)} on.
      </p>
    </>
  );
}
