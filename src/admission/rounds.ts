import type { ApiObject } from '../api/object-meta.ts';
import { copyJson, equal } from '../object/equality.ts';
import type { AdmissionAttributes, Reinvocation } from './admission.ts';

/**
 * The rounds in which a plugin changes an object: one, and a second one when the object changed after a webhook or a policy that
 * wants to see such changes (Kubernetes: admission/plugin/webhook/mutating and policy/mutating, reinvocation context).
 */
export class Rounds {
  readonly #known = new WeakMap<AdmissionAttributes, Round>();

  /** The first round of a write, or its second one. */
  begin(attributes: AdmissionAttributes): Round {
    const first = this.#known.get(attributes);
    const round = first?.next(attributes.object) ?? new Round();
    if (first === undefined) this.#known.set(attributes, round);
    return round;
  }
}

/** One round. Webhooks and policies are known by their keys. */
export class Round {
  readonly number: 0 | 1;
  /** Those that ran since the last change, and that want to see the next one. */
  readonly #waiting: Set<string>;
  /** Those to run again. */
  readonly #again: Set<string>;
  #hasChanged = false;
  #output: ApiObject | undefined;

  constructor(number: 0 | 1 = 0, waiting = new Set<string>(), again = new Set<string>()) {
    this.number = number;
    this.#waiting = waiting;
    this.#again = again;
  }

  /** The second round. `object` differs from the output of the first when other plugins changed it. */
  next(object: ApiObject | undefined): Round {
    if (!equal(this.#output, object)) this.#requireAgain();
    return new Round(1, this.#waiting, this.#again);
  }

  includes(key: string): boolean {
    return this.number === 0 || this.#again.has(key);
  }

  changed(): void {
    this.#hasChanged = true;
    this.#requireAgain();
  }

  /** Runs again when the object changes. */
  waits(key: string): void {
    this.#waiting.add(key);
  }

  #requireAgain(): void {
    for (const key of this.#waiting) this.#again.add(key);
    this.#waiting.clear();
  }

  /** `object`: as the plugin leaves it. */
  end(object: ApiObject | undefined): Reinvocation {
    if (this.number > 0) return undefined;
    this.#output = copyJson(object);
    return this.#hasChanged ? 'reinvoke' : undefined;
  }
}
