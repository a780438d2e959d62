// Annotations to correct: their number, the command that opens them, and the export of the list.
import { download } from "../../shared/api";
import { notify, notifyError } from "../../shared/Notices";
import { whole } from "../formatting";
import { markedCount, names, project, shown, threshold } from "../state";
import { settleThreshold, thresholdText } from "../threshold";

/** Quote a word for the shell. */
const quoted = (word: string) => (/^[\w./@%+=:,-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`);

export function MarksPanel() {
  const command = project.value!.annotate.map(quoted).join(" ");
  const copy = () =>
    navigator.clipboard.writeText(command).then(
      () => notify("The command is copied."),
      () => notify("Select the command and copy it."),
    );
  return (
    <section aria-label="Annotations to correct">
      <div class="spread">
        <h2>To correct</h2>
        <b id="marked-count" class="number">
          {whole(markedCount.value)}
        </b>
      </div>
      {markedCount.value > 0 ? (
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

/** Exports the pictures of the list, in its order, with the threshold of the page. */
function ExportButton() {
  const [n, all] = [shown.value.length, names.value.length];
  const pictures = n === 1 ? "picture" : "pictures";
  const save = () => {
    settleThreshold();
    download("/api/export", { pictures: shown.peek(), threshold: threshold.peek() }).catch(notifyError);
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
