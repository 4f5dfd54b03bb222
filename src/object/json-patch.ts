import type { JsonObject, JsonValue } from '../api/object-meta.ts';
import { assertDepth, assertWithinLimits } from './document-limits.ts';
import { copyJson, identical } from './equality.ts';
import { isObject, setField } from './json-values.ts';
import { PatchError, TestFailed } from './patch-error.ts';

export { PatchError } from './patch-error.ts';

const MAX_OPERATIONS = 10_000;
const VERBS: ReadonlySet<unknown> = new Set(['add', 'remove', 'replace', 'move', 'copy', 'test']);

/** Bound on the bytes that copies add: a few copies, each of the result of the one before, would fill any memory. */
const MAX_COPIED_BYTES = 3 * 1024 * 1024;

/** Bound on the list items that insertions and removals move. Moving this many takes 30 ms. */
const MAX_MOVED_ITEMS = 20_000_000;

/**
 * JSON Patch (RFC 6902). The input is not changed, and the result shares with it every part that no operation touched. Where
 * the standard leaves a choice, and in all texts, the result is that of Kubernetes (evanphx/json-patch, version 4): replacing
 * an absent member adds it, and a negative index counts from the end.
 * @throws PatchError
 */
export function applyJsonPatch(object: JsonObject, patch: JsonValue): JsonValue {
  if (!Array.isArray(patch))
    throw new PatchError('malformed', 'json: cannot unmarshal object into Go value of type jsonpatch.Patch');
  if (patch.length > MAX_OPERATIONS) {
    throw new PatchError(
      'too-many',
      `The allowed maximum operations in a JSON patch is ${MAX_OPERATIONS}, got ${patch.length}`,
    );
  }
  const document = new PatchedDocument(object);
  for (const operation of patch.map(toOperation)) document.apply(operation);
  return withinLimits(document.root);
}

/** Values within the limits can exceed them together, added below each other or copied into themselves. @throws PatchError */
function withinLimits(object: JsonValue): JsonValue {
  orInapplicable(() => assertWithinLimits(object));
  return object;
}

function orInapplicable(check: () => void): void {
  try {
    check();
  } catch (cause) {
    if (!(cause instanceof SyntaxError)) throw cause;
    throw new PatchError('inapplicable', cause.message, { cause });
  }
}

interface Operation {
  readonly op: string;
  readonly path: string;
  readonly from: string;
  readonly value: JsonValue | undefined;
}

function toOperation(operation: JsonValue): Operation {
  const { op, path, from, value } = isObject(operation) ? operation : {};
  if (typeof op !== 'string' || !VERBS.has(op) || typeof path !== 'string') {
    throw new PatchError('inapplicable', `Unexpected kind: ${typeof op === 'string' ? op : 'unknown'}`);
  }
  const needsFrom = op === 'move' || op === 'copy';
  if (needsFrom && typeof from !== 'string') {
    throw new PatchError(
      'inapplicable',
      `${op} operation failed to decode from: operation, missing from field: missing value`,
    );
  }
  return { op, path, from: String(from), value };
}

interface Place {
  readonly container: Container;
  readonly key: string;
}

class PatchedDocument {
  #root: Container;
  /** Containers that this patch has copied already, and therefore changes in place. */
  readonly #own = new WeakSet<Container>();
  #copiedBytes = 0;
  #movedItems = 0;

  constructor(object: JsonObject) {
    this.#root = object;
  }

  get root(): JsonValue {
    return this.#root;
  }

  apply({ op, path, from, value }: Operation): void {
    switch (op) {
      case 'add':
        this.#add(path, value ?? null, `error in add for path: '${path}'`);
        return;
      case 'remove':
        this.#remove(path);
        return;
      case 'replace':
        this.#replace(path, value ?? null);
        return;
      case 'move':
        this.#move(from, path);
        return;
      case 'copy':
        this.#copy(from, path);
        return;
      default:
        this.#test(path, value ?? null);
    }
  }

  #add(path: string, value: JsonValue, failed: string): void {
    const { container, key } = this.#change(
      path,
      `add operation does not apply: doc is missing path: "${path}"`,
    );
    this.#countMovedItems(container, key);
    explain(failed, () => insertElement(container, key, value));
  }

  #remove(path: string): void {
    const missing = `remove operation does not apply: doc is missing path: "${path}"`;
    const { container, key } = this.#change(path, missing);
    this.#countMovedItems(container, key);
    explain(`error in remove for path: '${path}'`, () => removeElement(container, key));
  }

  #replace(path: string, value: JsonValue): void {
    if (path === '') {
      if (!isContainer(value))
        throw new PatchError('inapplicable', 'replace operation value must be object or array: %!w(<nil>)');
      this.#root = value;
      return;
    }
    const missing = `replace operation does not apply: doc is missing path: ${path}`;
    const { container, key } = this.#change(path, missing);
    try {
      setElement(container, key, value);
    } catch {
      throw new PatchError(
        'inapplicable',
        `replace operation does not apply: doc is missing key: ${path}: missing value`,
      );
    }
  }

  #move(from: string, path: string): void {
    const { container, key } = this.#change(
      from,
      `move operation does not apply: doc is missing from path: ${from}`,
    );
    this.#countMovedItems(container, key);
    const value = explain(`error in move for path: '${key}'`, () => {
      const found = elementOf(container, key);
      removeElement(container, key);
      return found ?? null;
    });
    const to = this.#change(path, `move operation does not apply: doc is missing destination path: ${path}`);
    this.#countMovedItems(to.container, to.key);
    explain(`error in move for path: '${path}'`, () => insertElement(to.container, to.key, value));
  }

  #copy(from: string, path: string): void {
    const { container, key } = this.#look(
      from,
      `copy operation does not apply: doc is missing from path: ${from}`,
    );
    const found = explain(`error in copy for from: '${from}'`, () => elementOf(container, key)) ?? null;
    orInapplicable(() => assertDepth(found));
    this.#copiedBytes += JSON.stringify([found]).length - '[]'.length;
    if (this.#copiedBytes > MAX_COPIED_BYTES) {
      const what = `the accumulated size increase of copy is ${this.#copiedBytes}`;
      throw new PatchError(
        'inapplicable',
        `Unable to complete the copy, ${what}, exceeding the limit ${MAX_COPIED_BYTES}`,
      );
    }
    orInapplicable(() => assertWithinLimits(found));
    const value = copyJson(found);
    const to = this.#change(path, `copy operation does not apply: doc is missing destination path: ${path}`);
    this.#countMovedItems(to.container, to.key);
    explain('error while adding value during copy', () => insertElement(to.container, to.key, value));
  }

  /** Counts the list items that move when an item is inserted or removed at `key`. @throws PatchError */
  #countMovedItems(container: Container, key: string): void {
    if (!Array.isArray(container) || key === '-') return;
    const at = Number(key);
    this.#movedItems += container.length - (at > 0 && at < container.length ? at : 0);
    if (this.#movedItems > MAX_MOVED_ITEMS)
      throw new PatchError('too-many', 'The patch changes long lists in too many places');
  }

  #test(path: string, value: JsonValue): void {
    const { container, key } = this.#look(path, `test operation does not apply: is missing path: ${path}`);
    const found =
      path === '' ? container : explain(`error in test for path: '${path}'`, () => elementOf(container, key));
    if (!identical(found ?? null, value)) throw new TestFailed(path);
  }

  /** Where a pointer leads, for reading. */
  #look(pointer: string, missing: string): Place {
    let container = this.#root;
    if (pointer === '') return { container, key: '' };
    const key = lastStep(pointer, missing);
    for (const step of stepsBefore(pointer)) container = inside(container, step, missing);
    return { container, key };
  }

  /** Where a pointer leads, for changing: every container on the way becomes this patch's own copy. */
  #change(pointer: string, missing: string): Place {
    const key = lastStep(pointer, missing);
    let container = this.#toOwn(this.#root);
    this.#root = container;
    for (const step of stepsBefore(pointer)) {
      const next = this.#toOwn(inside(container, step, missing));
      setElement(container, step, next);
      container = next;
    }
    return { container, key };
  }

  #toOwn(container: Container): Container {
    if (this.#own.has(container)) return container;
    const copy = Array.isArray(container) ? [...container] : { ...container };
    this.#own.add(copy);
    return copy;
  }
}

function inside(container: Container, step: string, missing: string): Container {
  try {
    const next = elementOf(container, step);
    if (next !== undefined && isContainer(next)) return next;
  } catch (error) {
    if (!(error instanceof PatchError)) throw error;
  }
  throw new PatchError('inapplicable', `${missing}: missing value`);
}

/**
 * The steps of a pointer (RFC 6901) but for the last: `/a~1b/0/c` leads to `a/b`, and there to the first item. One by one,
 * because a long pointer seldom leads further than its first steps.
 */
function* stepsBefore(pointer: string): Generator<string> {
  let from = pointer.indexOf('/') + 1;
  for (let end = pointer.indexOf('/', from); end >= 0; end = pointer.indexOf('/', from)) {
    yield unescapeStep(pointer.slice(from, end));
    from = end + 1;
  }
}

/** @throws PatchError for a pointer without any step */
function lastStep(pointer: string, missing: string): string {
  const slash = pointer.lastIndexOf('/');
  if (slash < 0) throw new PatchError('inapplicable', `${missing}: missing value`);
  return unescapeStep(pointer.slice(slash + 1));
}

const unescapeStep = (step: string): string =>
  step.includes('~') ? step.replaceAll('~1', '/').replaceAll('~0', '~') : step;

/** Puts `failed` in front of the message of a PatchError. */
function explain<T>(failed: string, work: () => T): T {
  try {
    return work();
  } catch (cause) {
    if (!(cause instanceof PatchError)) throw cause;
    throw new PatchError('inapplicable', `${failed}: ${cause.message}`, { cause });
  }
}

/** The last step of a JSON pointer: a member of an object or an item of a list. Each throws a PatchError for a bad index. */
type Container = JsonObject | JsonValue[];

const isContainer = (value: JsonValue): value is Container => typeof value === 'object' && value !== null;

function elementOf(container: Container, key: string): JsonValue | undefined {
  if (Array.isArray(container)) return container[toIndex(key, container.length)];
  return Object.hasOwn(container, key) ? container[key] : undefined;
}

function setElement(container: Container, key: string, value: JsonValue): void {
  if (Array.isArray(container)) container[toIndex(key, container.length)] = value;
  else setMember(container, key, value);
}

/** Inserts before the item at the index; `-` appends. */
function insertElement(container: Container, key: string, value: JsonValue): void {
  if (!Array.isArray(container)) setMember(container, key, value);
  else if (key === '-') container.push(value);
  else container.splice(toInsertionIndex(key, container.length), 0, value);
}

function removeElement(container: Container, key: string): void {
  if (Array.isArray(container)) container.splice(toIndex(key, container.length), 1);
  else if (!Object.hasOwn(container, key) || container[key] === undefined)
    throw new PatchError('inapplicable', `Unable to remove nonexistent key: ${key}: missing value`);
  else delete container[key];
}

function setMember(container: JsonObject, key: string, value: JsonValue): void {
  if (key === '__proto__') setField(container, key, value);
  else container[key] = value;
}

function toInsertionIndex(key: string, length: number): number {
  try {
    return toIndex(key, length + 1);
  } catch (cause) {
    if (!(cause instanceof PatchError) || !cause.message.startsWith('strconv')) throw cause;
    throw new PatchError('inapplicable', `value was not a proper array index: '${key}': ${cause.message}`, {
      cause,
    });
  }
}

function toIndex(key: string, length: number): number {
  if (!/^[+-]?\d+$/.test(key))
    throw new PatchError('inapplicable', `strconv.Atoi: parsing ${JSON.stringify(key)}: invalid syntax`);
  const index = Number(key);
  if (index >= length || index < -length) {
    throw new PatchError(
      'inapplicable',
      `Unable to access invalid index: ${index}: invalid index referenced`,
    );
  }
  return index < 0 ? index + length : index;
}
