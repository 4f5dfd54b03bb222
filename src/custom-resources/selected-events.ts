import type { Entry, ObjectEventType, SharedEvent, TakeEvent } from '../storage/store.ts';
import { TranslatedEvent } from './translated-event.ts';

/**
 * What a watcher with a selector is told of translated events. The store cannot know it, because the selector looks at objects that it
 * does not have: whether an object was there for the watcher before is remembered here, by uid.
 *
 *   it did not match and does → ADDED       it matched and does → MODIFIED
 *   it matched and does not   → DELETED     it did not match and does not → nothing
 */
export class SelectedEvents {
  readonly #matches: (entry: Entry) => boolean;
  readonly #shown: Set<string>;

  /** `shown`: uids of the objects that the watcher knows. */
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
