import type { JsonObject, JsonValue } from '../api/object-meta.ts';
import { copyJson } from './copy.ts';
import { assertDepth, assertWithinLimits } from './document-limits.ts';
import { equal } from './equality.ts';
import {
  type Container,
  elementOf,
  insertElement,
  isContainer,
  removeElement,
  setElement,
} from './json-pointer.ts';
import { isObject } from './merge-patch.ts';
import { PatchError } from './patch-error.ts';

export { PatchError } from './patch-error.ts';

const MAX_OPERATIONS = 10_000;
const VERBS: ReadonlySet<unknown> = new Set(['add', 'remove', 'replace', 'move', 'copy', 'test']);

/** What copies may add up to: a few of them, each of what the last one made, would fill any memory. */
const MAX_COPIED_BYTES = 3 * 1024 * 1024;

/** How often items of lists may be moved to make or close gaps: 30 ms of work. 10,000 additions to the front of a list of 2,000 take so many. */
const MAX_MOVED_ITEMS = 20_000_000;

/**
 * JSON Patch (RFC 6902). The input is not changed, and the result shares with it all that no operation touched. What the
 * standard leaves open and what the texts say is as in Kubernetes (evanphx/json-patch, version 4): replacing a member
 * that is not there adds it, and a negative index counts from behind.
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

/** Values added below each other, or copied into themselves, may be deeper together than each of them. @throws PatchError */
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
  const valid = isObject(operation);
  const { op, path, from, value } = valid ? operation : {};
  if (typeof op !== 'string' || !VERBS.has(op) || typeof path !== 'string') {
    throw new PatchError(
      'inapplicable',
      `Unexpected kind: ${JSON.stringify(valid ? (op ?? null) : operation)}`,
    );
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
  /** What was copied on the way to a change belongs to this patch, and is changed in place from then on. */
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
    this.#giveWay(container, key);
    tell(failed, () => insertElement(container, key, value));
  }

  #remove(path: string): void {
    const missing = `remove operation does not apply: doc is missing path: "${path}"`;
    const { container, key } = this.#change(path, missing);
    this.#giveWay(container, key);
    tell(`error in remove for path: '${path}'`, () => removeElement(container, key));
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
    this.#giveWay(container, key);
    const value = tell(`error in move for path: '${key}'`, () => {
      const found = elementOf(container, key);
      removeElement(container, key);
      return found ?? null;
    });
    const to = this.#change(path, `move operation does not apply: doc is missing destination path: ${path}`);
    this.#giveWay(to.container, to.key);
    tell(`error in move for path: '${path}'`, () => insertElement(to.container, to.key, value));
  }

  #copy(from: string, path: string): void {
    const { container, key } = this.#look(
      from,
      `copy operation does not apply: doc is missing from path: ${from}`,
    );
    const found = tell(`error in copy for from: '${from}'`, () => elementOf(container, key)) ?? null;
    orInapplicable(() => assertDepth(found));
    this.#copiedBytes += JSON.stringify(found).length;
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
    this.#giveWay(to.container, to.key);
    tell('error while adding value during copy', () => insertElement(to.container, to.key, value));
  }

  /** The items of a list behind a place in it give way, or close up. */
  #giveWay(container: Container, key: string): void {
    if (!Array.isArray(container) || key === '-') return;
    const at = Number(key);
    this.#movedItems += container.length - (at > 0 && at < container.length ? at : 0);
    if (this.#movedItems > MAX_MOVED_ITEMS)
      throw new PatchError('too-many', 'The patch changes long lists in too many places');
  }

  #test(path: string, value: JsonValue): void {
    const { container, key } = this.#look(path, `test operation does not apply: is missing path: ${path}`);
    const found =
      path === '' ? container : tell(`error in test for path: '${path}'`, () => elementOf(container, key));
    if (!equal(found ?? null, value))
      throw new PatchError('inapplicable', `testing value ${path} failed: test failed`);
  }

  /** Where a pointer leads, for reading. */
  #look(pointer: string, missing: string): Place {
    const steps = stepsOf(pointer, missing);
    const key = steps.pop() ?? '';
    let container = this.#root;
    for (const step of steps) container = inside(container, step, missing);
    return { container, key };
  }

  /** Where a pointer leads, for changing: what is on the way is this patch's own copy. */
  #change(pointer: string, missing: string): Place {
    const steps = pointer === '' ? [] : stepsOf(pointer, missing);
    const key = steps.pop();
    if (key === undefined) throw new PatchError('inapplicable', `${missing}: missing value`);
    let container = this.#toOwn(this.#root);
    this.#root = container;
    for (const step of steps) {
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

/** RFC 6901: `/a~1b/0` leads to `a/b`, and there to the first item. */
function stepsOf(pointer: string, missing: string): string[] {
  if (pointer === '') return [];
  const steps = pointer.split('/').slice(1);
  if (steps.length === 0) throw new PatchError('inapplicable', `${missing}: missing value`);
  return steps.map((step) => (step.includes('~') ? step.replaceAll('~1', '/').replaceAll('~0', '~') : step));
}

/** What goes wrong inside is told behind `failed`. */
function tell<T>(failed: string, work: () => T): T {
  try {
    return work();
  } catch (cause) {
    if (!(cause instanceof PatchError)) throw cause;
    throw new PatchError('inapplicable', `${failed}: ${cause.message}`, { cause });
  }
}
