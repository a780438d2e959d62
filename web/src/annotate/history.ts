// Undo and redo of one value.

const LONGEST = 300;
const JOINED_WITHIN_MS = 1000;

export class History<Value> {
  private past: Value[] = [];
  private future: Value[] = [];
  private last = { kind: "", time: 0 };

  /** Keep the value before a change; quick changes of one kind in a row are one step. */
  record(before: Value, kind = ""): void {
    const time = Date.now();
    const joins = kind !== "" && kind === this.last.kind && time - this.last.time < JOINED_WITHIN_MS;
    this.last = { kind, time };
    this.future = [];
    if (joins) return;
    this.past.push(before);
    if (this.past.length > LONGEST) this.past.shift();
  }

  undo(now: Value): Value | undefined {
    return this.step(this.past, this.future, now);
  }

  redo(now: Value): Value | undefined {
    return this.step(this.future, this.past, now);
  }

  get canUndo(): boolean {
    return this.past.length > 0;
  }

  get canRedo(): boolean {
    return this.future.length > 0;
  }

  /** Apply a change to all that is kept, such as a new name of a category. */
  rewrite(change: (value: Value) => Value): void {
    this.past = this.past.map(change);
    this.future = this.future.map(change);
  }

  private step(from: Value[], to: Value[], now: Value): Value | undefined {
    const value = from.pop();
    if (value !== undefined) to.push(now);
    this.last.kind = "";
    return value;
  }
}
