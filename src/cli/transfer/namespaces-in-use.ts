import { SYSTEM_NAMESPACES } from '../../controllers/bootstrap-objects.ts';

/** NamespacesInUse are those of all that an import takes. */
export class NamespacesInUse {
  readonly #names = new Set<string>();

  /** The empty name stands for objects outside of namespaces. */
  add(namespace: string): void {
    this.#names.add(namespace);
  }

  /** Returns those that are not there and that no server makes. `isThere` takes a name such as `namespaces shop`. */
  missing(isThere: (name: string) => boolean): readonly string[] {
    return [...this.#names].filter((one) => !MADE.has(one) && !isThere(`namespaces ${one}`));
  }
}

const MADE: ReadonlySet<string> = new Set(['', ...SYSTEM_NAMESPACES]);
