import type { Revision } from './revision.ts';
import type { Encoding, Entry, SharedEvent } from './store.ts';

/** AddedEvent is the ADDED event of a single watch: an object of its initial state, or one made for its client. */
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
