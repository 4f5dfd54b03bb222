import type { Revision } from './revision.ts';
import type { Encoding, Entry, SharedEvent } from './store.ts';

/** An object that one watch alone is told of: one of the state that it begins with, or one that was made for its client. */
export class AddedEvent implements SharedEvent {
  readonly type = 'ADDED';
  readonly entry: Entry;

  constructor(entry: Entry) {
    this.entry = entry;
  }

  get revision(): Revision {
    return this.entry.revision;
  }

  encoded(encoding: Encoding): Buffer {
    return encoding.encode(this);
  }
}
