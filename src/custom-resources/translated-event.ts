import type { Revision } from '../storage/revision.ts';
import type { Encoding, Entry, ObjectEvent, SharedEvent } from '../storage/store.ts';

/** A translated event. Holds encodings weakly: the stored event is kept much longer than they are used. */
export class TranslatedEvent implements SharedEvent {
  readonly type: SharedEvent['type'];
  readonly entry: Entry;
  readonly revision: Revision;
  readonly #encodings = new Map<string, WeakRef<Buffer>>();

  constructor({ type, entry, revision }: ObjectEvent) {
    this.type = type;
    this.entry = entry;
    this.revision = revision;
  }

  encoded(encoding: Encoding): Buffer {
    const known = this.#encodings.get(encoding.id)?.deref();
    if (known !== undefined) return known;
    const bytes = encoding.encode(this);
    this.#encodings.set(encoding.id, new WeakRef(bytes));
    return bytes;
  }
}
