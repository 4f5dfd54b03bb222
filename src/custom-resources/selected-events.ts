import type { Entry, ObjectEventType, SharedEvent, TakeEvent } from '../storage/store.ts';
import { TranslatedEvent } from './translated-event.ts';

/**
 * Filters translated events for a watcher with a selector. The store cannot do so, because selectors match translated objects;
 * this remembers by uid which objects the watcher has.
 *
 *   no match, then match → ADDED       match, then match → MODIFIED
 *   match, then no match → DELETED     no match before and after → nothing
 */
export class SelectedEvents {
  readonly #matches: (entry: Entry) => boolean;
  readonly #shown: Set<string>;

  /** `shown`: uids of the objects that the watcher has. */
  constructor(matches: (entry: Entry) => boolean, shown: Iterable<string>) {
    this.#matches = matches;
    this.#shown = new Set(shown);
  }

  give(event: SharedEvent, take: TakeEvent): Promise<void> | undefined {
    const type = this.#typeFor(event);
    if (type === undefined) return undefined;
    const { entry, revision } = event;
    return take(type === event.type ? event : new TranslatedEvent({ type, entry, revision }));
  }

  #typeFor({ type, entry }: SharedEvent): ObjectEventType | undefined {
    const { uid } = entry;
    const wasShown = this.#shown.has(uid);
    if (type === 'DELETED' || !this.#matches(entry)) return this.#shown.delete(uid) ? 'DELETED' : undefined;
    this.#shown.add(uid);
    return wasShown ? 'MODIFIED' : 'ADDED';
  }
}
