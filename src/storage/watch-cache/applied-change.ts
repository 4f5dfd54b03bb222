import type { Scope } from '../key.ts';
import type { Revision } from '../revision.ts';
import type { Encoding, Entry, ObjectEventType, SharedEvent } from '../store.ts';
import type { RecentEncodings } from './recent-encodings.ts';

/**
 * AppliedChange is one change, shared by all watchers of a resource. Which event it is for a watcher depends on which of the two
 * states its selector matches; watchers that see the same event get the same object.
 */
export class AppliedChange {
  readonly revision: Revision;
  /** The state after the change; undefined for a deletion. */
  readonly entry: Entry | undefined;
  /** The state before it, or for a deletion the last one; undefined for a creation. */
  readonly previous: Entry | undefined;
  readonly #encodings: RecentEncodings | undefined;
  #added: ChangeEvent | undefined;
  #modified: ChangeEvent | undefined;
  #deleted: ChangeEvent | undefined;

  /** `encodings` is undefined for a single watcher. */
  constructor(
    states: Pick<AppliedChange, 'revision' | 'entry' | 'previous'>,
    encodings: RecentEncodings | undefined,
  ) {
    this.revision = states.revision;
    this.entry = states.entry;
    this.previous = states.previous;
    this.#encodings = encodings;
  }

  get sizeBytes(): number {
    return (this.entry?.sizeBytes ?? 0) + (this.previous?.sizeBytes ?? 0);
  }

  /** Returns undefined when the change does not concern a watcher with this selector. */
  eventFor(matches: ((entry: Entry) => boolean) | undefined): SharedEvent | undefined {
    const { entry, previous } = this;
    const isIn = entry !== undefined && (matches === undefined || matches(entry));
    const wasIn = previous !== undefined && (matches === undefined || matches(previous));
    if (isIn && wasIn) {
      this.#modified ??= this.#event('MODIFIED', entry);
      return this.#modified;
    }
    if (isIn) {
      this.#added ??= this.#event('ADDED', entry);
      return this.#added;
    }
    if (!wasIn) return undefined;
    this.#deleted ??= this.#event('DELETED', previous);
    return this.#deleted;
  }

  #event(type: ObjectEventType, entry: Entry): ChangeEvent {
    return new ChangeEvent({ type, entry, revision: this.revision }, this.#encodings);
  }
}

export function isInScope({ entry, previous }: AppliedChange, { namespace, name }: Scope): boolean {
  const object = entry ?? previous;
  if (object === undefined) return false;
  return (
    (namespace === undefined || object.namespace === namespace) &&
    (name === undefined || object.name === name)
  );
}

class ChangeEvent implements SharedEvent {
  readonly type: ObjectEventType;
  readonly entry: Entry;
  readonly revision: Revision;
  readonly #recent: RecentEncodings | undefined;
  #encodings: Map<string, Buffer> | undefined;

  constructor(event: Pick<SharedEvent, 'type' | 'entry' | 'revision'>, recent: RecentEncodings | undefined) {
    this.type = event.type;
    this.entry = event.entry;
    this.revision = event.revision;
    this.#recent = recent;
  }

  encoded(encoding: Encoding): Buffer {
    if (this.#recent === undefined) return encoding.encode(this);
    const known = this.#encodings?.get(encoding.id);
    if (known !== undefined) return known;
    const bytes = encoding.encode(this);
    this.#encodings ??= new Map();
    this.#encodings.set(encoding.id, bytes);
    this.#recent.add(this, bytes.length);
    return bytes;
  }

  dropEncodings(): void {
    this.#encodings = undefined;
  }
}
