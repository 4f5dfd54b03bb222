import type { ApiObject } from '../../api/object-meta.ts';
import { parseStored } from '../../codec/stored-object.ts';
import { equal } from '../../object/equality.ts';
import type { Entry, ObjectEvent } from '../../storage/store.ts';

/** The objects of one resource in the form that flow control uses, kept up by whoever follows the store. */
export class ObjectIndex<Parsed> {
  readonly #parse: (object: ApiObject) => Parsed | undefined;
  readonly #onChange: () => void;
  readonly #known = new Map<string, Parsed>();

  /** `parse` answers undefined for what is to be ignored. */
  constructor(parse: (object: ApiObject) => Parsed | undefined, onChange: () => void) {
    this.#parse = parse;
    this.#onChange = onChange;
  }

  values(): Parsed[] {
    return [...this.#known.values()];
  }

  replace(entries: readonly Entry[]): void {
    this.#known.clear();
    for (const entry of entries) this.#take(entry);
    this.#onChange();
  }

  /** A change that changes nothing here, such as a status, disturbs nobody. */
  apply({ type, entry }: ObjectEvent): void {
    const before = this.#known.get(entry.name);
    if (type === 'DELETED') this.#known.delete(entry.name);
    else this.#take(entry);
    if (!equal(before, this.#known.get(entry.name))) this.#onChange();
  }

  #take(entry: Entry): void {
    const parsed = this.#parse(parseStored(entry.json));
    if (parsed === undefined) this.#known.delete(entry.name);
    else this.#known.set(entry.name, parsed);
  }
}
